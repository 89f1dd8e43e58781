"""Values that a template holds only until somebody puts in their own."""

import re

# `YOUR_GPT.ckpt` and its like, and the reference sentence of the application's ROCm template, which asks the reader
# to enter the sentence of the recording.
_YOURS = re.compile(r"(?<![A-Za-z0-9])YOUR_[A-Z0-9_]+")
_SENTENCES = frozenset({"ここに参照音声と一致する文章を入力してください。"})


def is_placeholder(value: str) -> bool:
    """Whether `value` must be replaced before it can work."""
    return value.strip() in _SENTENCES or _YOURS.search(value) is not None
