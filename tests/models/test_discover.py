"""Where model files are looked for, and that nothing is guessed."""

import os
import sys
from pathlib import Path

import pytest

from rocm_wizard.models.discover import TtsWish, find_asr_folder, find_checkpoints, find_tts_files, snapshot

GPT = "assets/models/gpt-sovits/weights/gpt"
SOVITS = "assets/models/gpt-sovits/weights/sovits"


def touch(path: Path) -> Path:
    """An empty file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "检出 目录"
    touch(root / GPT / "v3" / "a-e15.ckpt")
    touch(root / SOVITS / "v3" / "a_e8.pth")
    touch(root / "assets/models/gpt-sovits/pretrained/s2Gv3.pth")
    (root / "assets/nltk_data").mkdir()
    return root


REFERENCE = {"TTS_REF_AUDIO_JA": "assets/audio/参考.wav", "TTS_REF_TEXT_JA": "こんにちは"}


def test_asr_folder(checkout: Path, tmp_path: Path) -> None:
    assert find_asr_folder(checkout, {}) is None
    usual = checkout / "assets/models/asr/qwen3-asr-0.6b"
    usual.mkdir(parents=True)
    found = [
        find_asr_folder(checkout, {}),
        find_asr_folder(checkout, {"QWEN3_ASR_MODEL_PATH": " models/q "}),
        find_asr_folder(checkout, {"QWEN3_ASR_MODEL_PATH": "models/q"}, tmp_path / "named"),
    ]
    assert [(each.path, each.source) for each in found if each is not None] == [
        (usual, "checkout"),
        (checkout / "models/q", "setting"),
        (tmp_path / "named", "option"),
    ]


def test_a_cache_folder_leads_to_its_one_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "models--Qwen--Qwen3-ASR-0.6B"
    (folder / "snapshots" / "abc").mkdir(parents=True)
    assert snapshot(folder) == folder / "snapshots" / "abc"
    (folder / "snapshots" / "def").mkdir()
    assert snapshot(folder) == folder
    assert snapshot(tmp_path / "none") == tmp_path / "none"


def test_the_only_checkpoints_are_taken(checkout: Path) -> None:
    search = find_tts_files(checkout, REFERENCE, TtsWish(), "ja")
    assert search.missing == () and search.candidates == {} and search.files is not None
    assert search.sources == {"gpt": "checkout", "sovits": "checkout", "reference": "setting"}
    assert search.files.gpt == checkout / GPT / "v3" / "a-e15.ckpt"
    assert search.files.base == checkout / "assets/models/gpt-sovits/pretrained/s2Gv3.pth"
    assert (search.files.bert, search.files.nltk) == (None, checkout / "assets/nltk_data")
    assert search.files.hubert.name == "chinese-hubert-base"
    assert (search.files.reference_text, search.files.language) == ("こんにちは", "ja")


@pytest.mark.parametrize(
    ("given", "text", "said"),
    [
        (None, None, "こんにちは"),
        ("mine.wav", None, ""),
        ("mine.wav", "mine", "mine"),
        (REFERENCE["TTS_REF_AUDIO_JA"], None, "こんにちは"),
        ("assets/../assets/audio/参考.wav", None, "こんにちは"),
    ],
)
def test_the_settings_words_belong_to_their_own_recording(
    checkout: Path, given: str | None, text: str | None, said: str
) -> None:
    wish = TtsWish(reference=Path(given) if given else None, reference_text=text)
    files = find_tts_files(checkout, REFERENCE, wish, "ja").files
    assert files is not None and files.reference_text == said


def test_of_several_checkpoints_none_is_guessed(checkout: Path) -> None:
    more = touch(checkout / SOVITS / "v2" / "b.PTH")
    search = find_tts_files(checkout, REFERENCE, TtsWish(), "ja")
    assert search.files is None and search.missing == ("sovits",)
    assert search.candidates == {"sovits": (more, checkout / SOVITS / "v3" / "a_e8.pth")}


def test_named_files_come_first_and_need_not_exist(checkout: Path, tmp_path: Path) -> None:
    settings = REFERENCE | {"TTS_GPT_MODEL_PATH": "g.ckpt", "TTS_SOVITS_MODEL_PATH": "s.pth"}
    wish = TtsWish(sovits=tmp_path / "mine.pth", reference_text="", pretrained=Path("elsewhere"))
    files = find_tts_files(checkout, settings, wish, "日文").files
    assert files is not None
    assert (files.gpt, files.sovits) == (checkout / "g.ckpt", tmp_path / "mine.pth")
    assert (files.base, files.bigvgan.parent, files.reference_text) == (None, checkout / "elsewhere", "")


def test_reference_of_the_language(checkout: Path) -> None:
    settings = REFERENCE | {"TTS_REF_AUDIO_EN": "en.wav", "TTS_REF_TEXT_EN": "Hello."}
    files = find_tts_files(checkout, settings, TtsWish(), "英文").files
    assert files is not None and (files.reference.name, files.reference_text) == ("en.wav", "Hello.")
    assert find_tts_files(checkout, settings, TtsWish(), "zh").missing == ("reference",)


def test_nltk_takes_the_first_folder_that_is_there(checkout: Path) -> None:
    (checkout / "other").mkdir()
    settings = REFERENCE | {"NLTK_DATA": os.pathsep.join(["none", "other"])}
    files = find_tts_files(checkout, settings, TtsWish(), "ja").files
    assert files is not None and files.nltk == checkout / "other"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_link_loops_end_and_linked_folders_are_entered(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "weights", tmp_path / "disk D"
    file = touch(elsewhere / "a.ckpt")
    root.mkdir()
    (root / "linked").symlink_to(elsewhere)
    (root / "again").symlink_to(elsewhere)
    (root / "loop").symlink_to(root)
    (elsewhere / "up").symlink_to(tmp_path)
    found = find_checkpoints(root, ".ckpt")
    assert len(found) == 1 and found[0].samefile(file)


def test_the_walk_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(12):
        deep /= "d"
    touch(deep / "deep.ckpt")
    for number in range(250):
        touch(tmp_path / f"{number:03}.ckpt")
    assert len(find_checkpoints(tmp_path, ".ckpt")) == 200
    assert find_checkpoints(tmp_path / "d", ".ckpt") == []
    assert find_checkpoints(tmp_path / "none", ".ckpt") == []
