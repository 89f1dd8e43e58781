"""Child text made safe."""

from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.qualification.clean import LINE_CAP, clean_line


@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("\x1b[]0;mPX\\\x07\x9b\r\n")))
def test_no_control_character_survives_and_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = clean_line(text)
    assert not any((ord(c) < 32 and c != "\t") or 0x7F <= ord(c) < 0xA0 for c in cleaned)
    assert len(cleaned) <= LINE_CAP
    assert clean_line(cleaned) == cleaned


def test_words_stay() -> None:
    assert clean_line("\x1b[1;31mE\x1b[0m: 読み込み [x] 5%\n") == "E: 読み込み [x] 5%"
    assert clean_line("C:\\new\\table [/] \u202ereversed") == "C:\\new\\table [/] \ufffdreversed"
