"""English: normalisation and pronunciation with and without CMUdict."""

import zipfile
from pathlib import Path

import pytest

from rocm_wizard.speech.gpt_sovits.text.english import English, to_arpabet
from rocm_wizard.speech.gpt_sovits.text.english_numbers import normalise_english
from rocm_wizard.speech.gpt_sovits.text.spelling_network import SpellingNetwork
from rocm_wizard.speech.serve import RequestError


@pytest.fixture(scope="module")
def english() -> English:
    return English(None)


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("I have $250 in my pocket.", "I have two hundred fifty dollars in my pocket."),
        ("It costs $12.50, £3.01 or 1,234 yen.", None),
        ("On 2024-03-01 at 10:30 a.m.", "On March first, twenty twenty four at ten thirty A.M."),
        ("in 1984 and the 1990s", "in nineteen eighty four and the nineteen nineties"),
        ("ROCm 7.2.1 at 3.14 GHz", "ROCm seven point two point one at three point one four gigahertz"),
        ("the 21st, 50% faster, 1/2", "the twenty first, fifty percent faster, one half"),
        ("cats, e.g. lions, i.e. pets", "cats, for example lions, that is pets"),
        ("Dr. Smith at St. John's", "Doctor Smith at Saint John's"),
        ("-5 degrees, 007", "minus five degrees, zero zero seven"),
        ("5-10 km/h, 25°C", "five to ten kilometers per hour, twenty five degrees Celsius"),
        ("naïve café — “quoted” (really)...", "naive cafe - quoted really…"),
        ("Wait!? What?!", "Wait! What?"),
        ("https://example.com", "example dot com"),
        ("F1 and 3D", "F one and three D"),
        ("12345678901234567890", "one two three four five six seven eight nine zero " * 2),
    ],
)
def test_everything_becomes_words(written: str, normalised: str | None) -> None:
    expected = normalised or "It costs twelve dollars and fifty cents, three pounds and one pence or " + (
        "one thousand two hundred thirty four yen."
    )
    assert normalise_english(written).replace("Dr ", "Doctor ") == expected.strip()


@pytest.mark.parametrize(
    ("sentence", "phones"),
    [
        # As CMUdict and the public front end have them too.
        ("Hello, how are you today?", "HH AH0 L OW1 , HH AW1 AA1 R Y UW1 T AH0 D EY1 ?"),
        (
            "The quick brown fox jumps over the lazy dog.",
            "DH AH0 K W IH1 K B R AW1 N F AA1 K S JH AH1 M P S OW1 V ER0 DH AH0 L EY1 Z IY0 D AO1 G .",
        ),
        ("Don't worry, it's well-known!", "D OW1 N T W ER1 IY0 , IH1 T S W EH1 L N OW1 N !"),
        ("A bird heard the letter.", "AH0 B ER1 D HH ER1 D DH AH0 L EH1 T ER0 ."),
        # The verb and the noun; the present and the past.
        (
            "I refuse to collect the refuse.",
            "AY1 R AH0 F Y UW1 Z T AH0 K AH0 L EH1 K T DH AH0 R EH1 F Y UW2 S .",
        ),
        ("We met at 10:30 a.m.", "W IY1 M EH1 T AE1 T T EH1 N TH ER1 T IY0 EY2 EH1 M ."),
        ("Water boils.", "W AO1 T ER0 B OY1 L Z ."),
        ("My GPU and NASA's.", "M AY1 JH IY2 P IY2 Y UW1 AE1 N D N AE1 S AH0 Z ."),
        # Words that no dictionary has come from g2p-en's network.
        ("Kurisu Makise's ROCm.", "K ER0 IH1 S UW0 AH0 S M AH0 K AY1 S IH0 Z R AA1 K M ."),
    ],
)
def test_pronunciation_without_cmudict(english: English, sentence: str, phones: str) -> None:
    assert " ".join(english.phones(normalise_english(sentence))) == phones


def _cmudict(folder: Path, *, packed: bool) -> Path:
    lines = "KURISU 1 K UH1 R IH0 S UW0\nTOMATO 1 T AH0 M AA1 T OW2\nTOMATO 2 T AH0 M EY1 T OW2\nIT 1 IH1 T\n"
    corpora = folder / "corpora"
    corpora.mkdir(parents=True)
    if packed:
        with zipfile.ZipFile(corpora / "cmudict.zip", "w") as archive:
            archive.writestr("cmudict/cmudict", lines)
    else:
        (corpora / "cmudict").mkdir()
        (corpora / "cmudict" / "cmudict").write_text(lines, encoding="utf-8")
    return folder


@pytest.mark.parametrize("packed", [True, False])
def test_cmudict_comes_first_with_its_first_reading(tmp_path: Path, packed: bool) -> None:
    english = English(_cmudict(tmp_path / "nltk 数据", packed=packed))
    assert english.has_cmudict
    assert " ".join(english.phones("Kurisu's tomato.")) == "K UH1 R IH0 S UW0 Z T AH0 M AA1 T OW2 ."
    # Capitals are the abbreviation, not the pronoun; homographs are g2p-en's, by part of speech.
    assert english.phones("it") == ["IH1", "T"]
    assert english.phones("AMD") == ["EY2", "EH2", "M", "D", "IY1"]
    assert " ".join(english.phones("I read it and refuse the refuse.")).endswith(
        "R IH0 F Y UW1 Z DH AH0 R EH1 F Y UW2 Z ."
    )


def test_a_folder_without_cmudict_is_no_dictionary(tmp_path: Path) -> None:
    assert not English(tmp_path).has_cmudict
    assert not English(None).has_cmudict


def test_a_broken_cmudict_is_named(tmp_path: Path) -> None:
    path = _cmudict(tmp_path, packed=True) / "corpora" / "cmudict.zip"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(RequestError, match=r"cmudict cannot be read from .*cmudict\.zip"):
        English(tmp_path).phones("tomato")


def test_the_network_is_g2p_en_s() -> None:
    network = SpellingNetwork()
    # Checked against `g2p_en.G2p.predict` over 300 random words.
    assert " ".join(network.pronounce("activationist")) == "AE2 K T IH0 V EY1 SH AH0 N IH0 S T"
    assert " ".join(network.pronounce("makise")) == "M AH0 K AY1 S"
    assert len(network.pronounce("z" * 200)) <= 20


def test_stress_and_r_of_hibari_s_phonemes() -> None:
    assert to_arpabet("bˈɜɹd") == ["B", "ER1", "D"]
    assert to_arpabet("ˌɑɹˈɛks") == ["AA2", "R", "EH1", "K", "S"]
    assert to_arpabet("lˈɛTəɹ") == ["L", "EH1", "T", "ER0"]
    assert to_arpabet("ˈænəmᵊlz") == ["AE1", "N", "AH0", "M", "AH0", "L", "Z"]
