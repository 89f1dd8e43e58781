"""What the tests of the front ends share."""

import torch
from hypothesis import strategies as st
from torch import Tensor

# Digits, units, marks and full-width forms in all three scripts, beside whatever Hypothesis thinks of.
_CHARACTERS = (
    "的一不我个二两三点十百千万月日年时分第上下来去子们儿看好想了吗小李美展览馆行长还都得地，。！？、；…—～「」『』,.!?;:'\"-()"
    "%$¥€£°℃/&@+=0123456789０１２abcdeimnorstuwxyzABCGKNRXéüあいうかがきっんーアイウンヴァ今東京々〇゛ﾊﾟ①²½"
    " \n\t\u3000\u200b😀한АбÀ"
)
ANY_TEXT = st.one_of(st.text(alphabet=_CHARACTERS, max_size=40), st.text(max_size=20))


class NumberedCharacters:
    """Stands where a Chinese BERT goes: the feature of a phoneme is the number of its character, counted from 1."""

    width = 1024

    def features(self, text: str, counts: list[int]) -> Tensor:
        """[1024, sum(counts)]."""
        numbers = torch.arange(1, len(text) + 1).repeat_interleave(torch.tensor(counts))
        return numbers.expand(self.width, -1).float()
