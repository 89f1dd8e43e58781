"""The bundled recordings are what their list says, and are named where they come from."""

from pathlib import Path

import pytest
import soundfile

from rocm_wizard.assets import asset
from rocm_wizard.audio.wav import file_sha256
from rocm_wizard.stages.languages import find_language
from rocm_wizard.stages.recordings import bundled_recording, bundled_recordings, recording_for


def test_each_file_has_its_hash_words_and_origin() -> None:
    readme = asset("audio", "README.md").read_text(encoding="utf-8")
    listed = asset("audio", "recordings.toml").read_text(encoding="utf-8")
    recordings = bundled_recordings()
    assert {recording.file for recording in recordings} == set(asset("audio").glob("*.wav"))
    assert listed.count("licence = ") == listed.count("source = ") == len(recordings)
    for recording in recordings:
        assert file_sha256(recording.file) == recording.sha256
        assert f"`{recording.file.name}`" in readme
        assert f"`{recording.sha256}`" in readme
        assert recording.file.stat().st_size < 300_000
        info = soundfile.info(recording.file)
        assert (info.samplerate, info.channels, info.subtype) == (16000, 1, "PCM_16")
        assert 1 < info.duration < 10
        assert recording.transcript


def test_one_in_each_language_of_the_host() -> None:
    for code in ("en", "zh", "ja"):
        language = find_language(code)
        assert language is not None
        recording = recording_for(language.name)
        assert recording is not None
        assert recording.language == language.name
    assert recording_for("Finnish") is None
    assert bundled_recording().language == "English"


def test_an_unknown_id_is_named() -> None:
    assert bundled_recording("call-to-arms-0023").file.name == "zh-call-to-arms-0023.wav"
    with pytest.raises(KeyError, match="nothing"):
        bundled_recording("nothing")


def test_no_recording_stands_outside_the_list() -> None:
    names = {path.name for path in Path(asset("audio")).iterdir()}
    assert names == {"README.md", "recordings.toml", *(recording.file.name for recording in bundled_recordings())}
