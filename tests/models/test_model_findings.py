"""What the person reads: every problem has words in every language, a failed one keeps the sidecar from starting."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_wizard.models.problem import Kind
from rocm_wizard.models.tts_models import TtsModelFiles
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.report.catalogue import LANGUAGES, Catalogue, load_strings
from rocm_wizard.stages.model_findings import inspect_asr_model, inspect_tts_models
from tests.models import crafted

OTHER_IDS = {"models.recognised", "models.recognised_unread", "models.reference", "models.not_named"}
OTHER_IDS |= {"models.reference_not_set"}


def reported(call: Callable[[StageContext], bool]) -> tuple[bool, list[Finding]]:
    """What a look returns and reports; all of it within the check `models`."""
    events: list[ev.Event] = []
    usable = call(StageContext("tts_smoke", events.append, answer_by_default, CancelToken()))
    findings = [event for event in events if isinstance(event, ev.FindingReported)]
    assert {event.check for event in findings} == {"models"}
    return usable, [event.finding for event in findings]


def test_every_kind_has_words_and_every_word_a_kind() -> None:
    wanted = {f"models.{kind}" for kind in Kind} | OTHER_IDS
    for language in LANGUAGES:
        assert {id for id in load_strings(language)["finding"] if id.startswith("models.")} == wanted


def test_a_voice_in_order(tmp_path: Path) -> None:
    files = crafted.voice(tmp_path / "声 音")
    usable, findings = reported(lambda context: inspect_tts_models(context, files))
    assert usable and {finding.outcome for finding in findings} == {Outcome.PASSED}
    assert len(findings) == 6
    sentences = [Catalogue("en").sentence(finding) for finding in findings]
    assert sentences[0].startswith("声音-e15.ckpt: GPT v2, 295 tensors (float16), 0.")
    assert sentences[1].startswith("声音 e8.pth: SoVITS v3, 685 tensors (float16), 0.")
    assert sentences[-1] == "Reference 参考.wav: 4.0 s at 16000 Hz, level -17.0 dBFS, words given."


def test_a_language_without_a_recording_of_its_own_is_told_by_its_keys(tmp_path: Path) -> None:
    files = crafted.voice(tmp_path / "声 音")
    keys = ("TTS_REF_AUDIO_EN", "TTS_REF_TEXT_EN")
    usable, _ = reported(lambda context: inspect_tts_models(context, files, keys))
    assert usable, "the host's own recording is there"
    files = replace(files, reference=tmp_path / "english.wav", reference_text="", language="en")
    usable, findings = reported(lambda context: inspect_tts_models(context, files, keys))
    (told,) = [finding for finding in findings if finding.id.startswith("models.reference")]
    assert (usable, told.id, told.outcome) == (False, "models.reference_not_set", Outcome.FAILED)
    said = [Catalogue("en").sentence(told), str(Catalogue("en").hint(told)), str(Catalogue("en").action(told))]
    assert all(key in "".join(said) for key in keys) and "Download" not in "".join(said)
    usable, findings = reported(lambda context: inspect_tts_models(context, files))
    assert not usable and "models.reference_not_set" not in {finding.id for finding in findings}


def test_an_asr_folder(tmp_path: Path) -> None:
    folder = crafted.qwen(tmp_path / "q 模型")
    usable, (finding,) = reported(lambda context: inspect_asr_model(context, folder))
    assert usable and finding.id == "models.recognised" and finding.facts["file"] == "q 模型"
    (folder / "merges.txt").unlink()
    usable, findings = reported(lambda context: inspect_asr_model(context, folder))
    assert not usable and [finding.outcome for finding in findings] == [Outcome.FAILED]


def spoil(files: TtsModelFiles) -> TtsModelFiles:
    """Nearly everything about a voice is wrong."""
    files.gpt.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 155284856\n")
    crafted.lora(files.sovits, "02")
    crafted.bigvgan(files.bigvgan, num_mels=80)
    (files.hubert / "model.safetensors").unlink()
    crafted.recording(files.reference, 1.0)
    return replace(files, bert=None, reference_text="ここに参照音声と一致する文章を入力してください。", language="zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_is_told_without_gaps(tmp_path: Path, language: str) -> None:
    files = spoil(crafted.voice(tmp_path / "声 音"))
    usable, findings = reported(lambda context: inspect_tts_models(context, files))
    assert not usable
    assert {finding.id.removeprefix("models.") for finding in findings} >= {
        *("lfs_pointer", "head_contradicts", "lora_no_base", "folder_config", "no_weights", "bert_missing"),
        *("reference_short", "reference_no_text"),
    }
    words = Catalogue(language)
    for finding in findings:
        said = " ".join(filter(None, (words.sentence(finding), words.hint(finding), words.action(finding))))
        assert finding.id not in said and not re.search(r"[?{}]", said.replace("？", ""))
        assert {"file", "folder"} <= finding.private
    pointer = next(finding for finding in findings if finding.id == "models.lfs_pointer")
    assert words.action(pointer) == f'git -C "{files.gpt.parent}" lfs pull --include "**/声音-e15.ckpt"'
    assert "155,284,856" in words.sentence(pointer)


def test_a_warning_does_not_keep_the_sidecar_from_starting(tmp_path: Path) -> None:
    files = replace(crafted.voice(tmp_path), nltk=None, language="en")
    usable, findings = reported(lambda context: inspect_tts_models(context, files))
    assert usable
    assert [finding.id for finding in findings if finding.outcome is Outcome.WARNING] == ["models.nltk_missing"]
