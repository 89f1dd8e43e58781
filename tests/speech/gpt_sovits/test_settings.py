"""The engine's environment variables, and which files it looks for."""

from pathlib import Path

import pytest

from rocm_wizard.models.discover import TtsWish, find_tts_files
from rocm_wizard.speech.gpt_sovits.files import BIGVGAN, HUBERT, find_files, usual_reference
from rocm_wizard.speech.gpt_sovits.settings import BUCKET_VARIABLE, read_settings
from rocm_wizard.speech.serve import LoadFailure

PRETRAINED = Path("assets/models/gpt-sovits/pretrained")


@pytest.mark.parametrize(
    ("value", "hip", "expected"),
    [
        (None, True, 80),
        (None, False, 0),
        ("96", False, 96),
        ("0", True, 1),
        ("-5", True, 1),
        ("80.0", True, 80),
        ("", True, 80),
        ("lots", True, 80),
        ("lots", False, 0),
        ("", False, 0),
    ],
)
def test_a_malformed_bucket_keeps_the_default(value: str | None, hip: bool, expected: int) -> None:
    environment = {} if value is None else {BUCKET_VARIABLE: value}
    assert read_settings(environment, hip=hip).bucket_mels == expected


def test_switches_that_need_exactly_1() -> None:
    assert read_settings({"TTS_SOVITS_SYNC_TIMING": "1"}, hip=False).sync_timing
    assert read_settings({"TTS_STREAM_SYNC_TIMING": "1"}, hip=False).sync_timing
    assert not read_settings({"TTS_SOVITS_SYNC_TIMING": "true"}, hip=False).sync_timing
    assert not read_settings({"ENABLE_CUDA_GRAPH": "auto"}, hip=False).graphs
    assert read_settings({"ENABLE_CUDA_GRAPH": "1"}, hip=True).graphs
    assert not read_settings({"TTS_SEMANTIC_GUARD": "Off"}, hip=False).guard
    assert read_settings({}, hip=False).guard


def test_everything_missing_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(LoadFailure) as caught:
        find_files({"gpt": Path("no.ckpt")}, None, {}, tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "no.ckpt") in message
    assert "TTS_SOVITS_MODEL_PATH" in message
    assert HUBERT in message
    assert BIGVGAN in message


def test_named_files_come_before_the_hosts_settings(tmp_path: Path) -> None:
    for name in ("a.ckpt", "b.ckpt", "s.pth"):
        (tmp_path / name).touch()
    for name in (HUBERT, BIGVGAN):
        (tmp_path / PRETRAINED / name).mkdir(parents=True)
    environment = {"TTS_GPT_MODEL_PATH": "b.ckpt", "TTS_SOVITS_MODEL_PATH": "s.pth"}
    found = find_files({"gpt": tmp_path / "a.ckpt"}, None, environment, tmp_path)
    assert (found.gpt, found.sovits) == (tmp_path / "a.ckpt", tmp_path / "s.pth")
    assert (found.base, found.bert, found.nltk) == (None, None, None)
    (tmp_path / "assets/nltk_data").mkdir(parents=True)
    (tmp_path / PRETRAINED / "s2Gv3.pth").touch()
    found = find_files({}, None, environment, tmp_path)
    assert found.gpt == tmp_path / "b.ckpt"
    assert found.base == tmp_path / PRETRAINED / "s2Gv3.pth"
    assert found.nltk == tmp_path / "assets/nltk_data"


def test_the_hosts_reference_by_language() -> None:
    environment = {"TTS_REF_AUDIO_JA": "ja.wav", "TTS_REF_TEXT_JA": "こんにちは"}
    assert usual_reference("all_ja", environment) == ("ja.wav", "こんにちは")
    assert usual_reference("en", environment) == ("", "")
    assert usual_reference("auto", environment) == ("", "")


def test_the_engine_loads_what_the_wizard_inspects(tmp_path: Path) -> None:
    """Both find by one rule: a checkpoint that lies alone in the checkout, the public project's folders, a cache."""
    gpt, sovits = tmp_path / "GPT_weights_v3" / "a.ckpt", tmp_path / "SoVITS_weights_v3" / "b.pth"
    hubert = tmp_path / "GPT_SoVITS/pretrained_models" / HUBERT
    snapshot = tmp_path / "GPT_SoVITS/pretrained_models" / BIGVGAN / "snapshots" / "6f21d4"
    for folder in (gpt.parent, sovits.parent, hubert, snapshot):
        folder.mkdir(parents=True)
    gpt.touch()
    sovits.touch()
    loaded = find_files({}, None, {}, tmp_path)
    wish = TtsWish(reference=tmp_path / "voice.wav", reference_text="words")
    inspected = find_tts_files(tmp_path, {}, wish, "ja").files
    assert inspected is not None
    assert (loaded.gpt, loaded.sovits) == (inspected.gpt, inspected.sovits) == (gpt, sovits)
    assert (loaded.bigvgan, loaded.hubert) == (inspected.bigvgan, inspected.hubert) == (snapshot, hubert)
