"""A voice's files together: one that is in order, then each thing that can be wrong with one of them."""

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from rocm_wizard.models.plain import read_json
from rocm_wizard.models.problem import Kind, Problem
from rocm_wizard.models.reference import read_reference
from rocm_wizard.models.tts_models import TtsModelFiles, inspect_tts_files
from tests.models import crafted
from tests.models.crafted import filled, recording
from tests.speech.gpt_sovits import tiny
from tests.speech.gpt_sovits.tiny import tiny_networks


@pytest.fixture
def voice(tmp_path: Path) -> TtsModelFiles:
    return crafted.voice(tmp_path / "a 声音")


def only(files: TtsModelFiles) -> Problem:
    """The one problem of a voice."""
    found = inspect_tts_files(files).problems
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("language", ["日文", "en", "all_zh", "auto"])
def test_a_voice_in_order(voice: TtsModelFiles, language: str) -> None:
    found = inspect_tts_files(replace(voice, language=language))
    assert found.problems == [] and found.usable
    assert {(thing.name, thing.tensors) for thing in found.recognised} == {
        ("GPT v2", 295),
        ("SoVITS v3", 685),
        ("BigVGAN v2 24 kHz", 667),
        ("Chinese HuBERT base", 1),
        ("Chinese RoBERTa wwm ext large", 1),
    }


def test_lora_with_its_base(voice: TtsModelFiles, tmp_path: Path) -> None:
    files = replace(voice, sovits=crafted.lora(tmp_path / "l.pth"), base=voice.sovits)
    found = inspect_tts_files(files)
    assert found.problems == []
    assert [thing.name for thing in found.recognised[:3]] == ["GPT v2", "SoVITS v3 LoRA", "SoVITS v3"]
    assert only(replace(files, base=None)).facts == {"found": "SoVITS v3 LoRA", "needed": "s2Gv3.pth"}
    missing = only(replace(files, base=tmp_path / "s2Gv3.pth"))
    assert (missing.kind, missing.file.name) == (Kind.MISSING, "s2Gv3.pth")


def test_lora_with_a_wrong_base(voice: TtsModelFiles, tmp_path: Path) -> None:
    files = replace(voice, sovits=crafted.lora(tmp_path / "l.pth"))
    for base, found in (
        (crafted.sovits(tmp_path / "4.pth", version="v4"), "SoVITS v4"),
        (crafted.sovits(tmp_path / "2.pth", crafted.decoder_state(732), version="v2"), "SoVITS v2"),
        (files.sovits, "SoVITS v3 LoRA"),
    ):
        problem = only(replace(files, base=base))
        assert problem.kind is Kind.WRONG_VERSION
        assert problem.facts == {"found": found, "needed": "SoVITS v3"}
    assert only(replace(files, base=voice.gpt)).facts == {"found": "GPT v2", "needed": "SoVITS"}


def test_lora_that_changes_what_its_base_lacks(voice: TtsModelFiles, tmp_path: Path) -> None:
    state = crafted.lora_state()
    name = next(name for name in state if "blocks.3.attn.to_k.lora_B" in name)
    path = crafted.sovits(tmp_path / "l.pth", state | {name: filled((512, 32))}, "03", lora_rank=32)
    problem = only(replace(voice, sovits=path, base=voice.sovits))
    assert problem.kind is Kind.TENSORS_MISSING
    assert problem.facts["tensors"] == ["cfm.estimator.transformer_blocks.3.attn.to_k.weight"]


def test_exchanged_checkpoints(voice: TtsModelFiles) -> None:
    found = inspect_tts_files(replace(voice, gpt=voice.sovits, sovits=voice.gpt)).problems
    assert [(problem.kind, problem.facts) for problem in found] == [
        (Kind.WRONG_ROLE, {"found": "SoVITS v3", "needed": "GPT"}),
        (Kind.WRONG_ROLE, {"found": "GPT v2", "needed": "SoVITS"}),
    ]


def test_first_gpt_with_v3(voice: TtsModelFiles, tmp_path: Path) -> None:
    problem = only(replace(voice, gpt=crafted.gpt(tmp_path / "1.ckpt", 512)))
    assert problem.kind is Kind.PAIR_PHONEMES
    assert problem.facts == {"found": "GPT v1", "other": "SoVITS v3", "needed": "GPT v2"}


def test_other_versions_are_not_spoken(voice: TtsModelFiles, tmp_path: Path) -> None:
    pro = crafted.decoder_state(732, **{"sv_emb.weight": (1024, 20480)})
    path = crafted.sovits(tmp_path / "p.pth", pro, "05", "v2Pro")
    assert only(replace(voice, sovits=path)).facts == {
        "found": "SoVITS v2Pro",
        "needed": "SoVITS v3, SoVITS v3 LoRA",
    }
    first = crafted.sovits(tmp_path / "1.pth", crafted.decoder_state(322), "00", "v1")
    found = inspect_tts_files(replace(voice, sovits=first)).problems
    assert [problem.kind for problem in found] == [Kind.WRONG_VERSION, Kind.PAIR_PHONEMES]
    # The pair itself fits then, only nobody speaks it here.
    assert only(replace(voice, sovits=first, gpt=crafted.gpt(tmp_path / "1.ckpt", 512))).kind is Kind.WRONG_VERSION


def test_widths_that_do_not_meet(voice: TtsModelFiles, tmp_path: Path) -> None:
    problem = next(
        problem
        for problem in inspect_tts_files(replace(voice, hubert=crafted.hubert(tmp_path / "h", 64))).problems
        if problem.fatal
    )
    assert problem.kind is Kind.PAIR_WIDTH
    assert problem.facts == {"name": "Chinese HuBERT base", "found": 64, "needed": 768, "other": "SoVITS v3"}


def test_other_bigvgan(voice: TtsModelFiles) -> None:
    crafted.bigvgan(voice.bigvgan, sampling_rate=44100, activation="snake")
    found = inspect_tts_files(voice).problems
    assert [(problem.kind, problem.facts) for problem in found] == [
        (Kind.FOLDER_CONFIG, {"field": "activation", "found": "snake", "needed": "snakebeta"}),
        (Kind.FOLDER_CONFIG, {"field": "sampling_rate", "found": "44100", "needed": "24000"}),
    ]


def test_bigvgan_settings_of_another_width(voice: TtsModelFiles) -> None:
    crafted.bigvgan(voice.bigvgan, upsample_initial_channel=512)
    assert only(voice).facts == {"field": "upsample_initial_channel", "found": "512", "needed": "1536"}


def test_folders_that_are_not_whole(voice: TtsModelFiles) -> None:
    (voice.bigvgan / "bigvgan_generator.pt").unlink()
    assert (only(voice).kind, only(voice).file.name) == (Kind.MISSING, "bigvgan_generator.pt")
    (voice.bigvgan / "config.json").write_text("{", encoding="utf-8")
    assert only(voice).kind is Kind.JSON_BROKEN
    assert only(replace(voice, bigvgan=voice.gpt)).kind is Kind.NOT_A_FILE


HUBERT_BREAKS: dict[Kind, Callable[[Path], object]] = {
    Kind.MISSING: lambda folder: (folder / "config.json").unlink(),
    Kind.NO_WEIGHTS: lambda folder: (folder / "model.safetensors").unlink(),
    Kind.HOST_FILE: lambda folder: (folder / "preprocessor_config.json").unlink(),
    Kind.FOLDER_CONFIG: lambda folder: crafted.hubert(folder, model_type="wav2vec2"),
    Kind.TENSORS_MISSING: lambda folder: save_file({"a": torch.ones(2)}, folder / "model.safetensors"),
    Kind.TENSOR_SHAPE: lambda folder: crafted.hubert(folder, hidden_size=512),
    Kind.UNUSUAL_SIZE: lambda folder: crafted.hubert(folder, num_hidden_layers=2),
}


@pytest.mark.parametrize("kind", HUBERT_BREAKS)
def test_hubert_folder(voice: TtsModelFiles, kind: Kind) -> None:
    HUBERT_BREAKS[kind](voice.hubert)
    assert only(voice).kind is kind
    assert only(voice).fatal is (kind not in (Kind.HOST_FILE, Kind.UNUSUAL_SIZE))


def test_old_torch_weights_load_but_are_not_looked_into(voice: TtsModelFiles) -> None:
    assert voice.bert is not None
    torch.save({"a": torch.ones(2)}, voice.bert / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    problem = only(voice)
    assert problem.kind is Kind.LEGACY_WEIGHTS and not problem.fatal
    found = next(thing for thing in inspect_tts_files(voice).recognised if "RoBERTa" in thing.name)
    assert found.tensors == 0 and found.size == (voice.bert / "pytorch_model.bin").stat().st_size


def test_roberta_is_needed_for_chinese(voice: TtsModelFiles) -> None:
    assert only(replace(voice, bert=None, language="中文")).kind is Kind.BERT_MISSING
    assert inspect_tts_files(replace(voice, bert=None, language="en")).problems == []
    assert voice.bert is not None
    (voice.bert / "vocab.txt").unlink()
    assert only(voice).file.name == "tokenizer.json"


def test_nltk_for_english(voice: TtsModelFiles, tmp_path: Path) -> None:
    english = replace(voice, language="英文")
    assert only(replace(english, nltk=None)).kind is Kind.NLTK_MISSING
    assert only(replace(english, nltk=tmp_path / "none")).kind is Kind.NLTK_MISSING
    assert voice.nltk is not None
    tagger = voice.nltk / "taggers" / "averaged_perceptron_tagger_eng"
    tagger.rename(tagger.with_name("averaged_perceptron_tagger"))
    assert only(english).kind is Kind.NLTK_OLD_TAGGER
    tagger.with_suffix(".zip").write_bytes(b"PK\x03\x04 and no end")
    assert only(english).kind is Kind.ZIP_BROKEN
    with zipfile.ZipFile(tagger.with_suffix(".zip"), "w") as archive:
        archive.writestr("averaged_perceptron_tagger_eng/x.json", "{}")
    assert inspect_tts_files(english).problems == []
    (voice.nltk / "corpora" / "cmudict" / "cmudict").unlink()
    assert only(english).facts == {"part": "cmudict"}
    assert inspect_tts_files(voice).problems == []


@pytest.mark.parametrize(
    ("seconds", "level", "kind"),
    [
        (2.9, 0.2, Kind.REFERENCE_SHORT),
        (10.1, 0.2, Kind.REFERENCE_LONG),
        (4.0, 0.001, Kind.REFERENCE_SILENT),
        (4.0, 3.0, Kind.REFERENCE_CLIPPED),
    ],
)
def test_unfit_references(tmp_path: Path, seconds: float, level: float, kind: Kind) -> None:
    _, problems = read_reference(recording(tmp_path / "参 考.wav", seconds, level), "words")
    assert [problem.kind for problem in problems] == [kind]
    assert problems[0].facts["seconds"] == seconds
    assert problems[0].fatal is (kind is not Kind.REFERENCE_CLIPPED)


def test_a_reference_of_an_odd_rate_is_not_resampled_with_gigabytes(tmp_path: Path) -> None:
    for rate, kinds in ((44_101, [Kind.REFERENCE_RATE]), (11_025, []), (192_000, [])):
        path = recording(tmp_path / f"{rate}.wav", rate=rate)
        assert [problem.kind for problem in read_reference(path, "words")[1]] == kinds


def test_reference_in_order_and_without_words(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.wav", 3.0)
    measured, problems = read_reference(path, "words")
    # A sine of amplitude 0.2 has an RMS of 0.2 / sqrt(2).
    assert problems == [] and measured == {"seconds": 3.0, "rate": 16000.0, "rms_dbfs": -17.0}
    assert [problem.kind for problem in read_reference(path, "  ")[1]] == [Kind.REFERENCE_NO_TEXT]


def test_reference_that_is_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF" + bytes(range(200)) * 50)
    assert [problem.kind for problem in read_reference(path, "w")[1]] == [Kind.REFERENCE_UNREADABLE]
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 99\n")
    assert [problem.kind for problem in read_reference(path, "")[1]] == [Kind.LFS_POINTER, Kind.REFERENCE_NO_TEXT]


def test_settings_say_what_they_want_of_a_config(voice: TtsModelFiles) -> None:
    """A real BigVGAN says its resblock as text, a hand-made one as a number."""
    config = read_json(voice.bigvgan / "config.json")
    crafted.write_json(voice.bigvgan / "config.json", config | {"resblock": 1, "fmin": 0.0})
    assert [problem.facts for problem in inspect_tts_files(voice).problems] == []


def test_a_small_voice_that_the_engine_loads_is_only_unusual(voice: TtsModelFiles, tmp_path: Path) -> None:
    networks = tiny_networks()
    tiny.save_gpt(tmp_path / "g.ckpt", networks.t2s)
    tiny.save_sovits(tmp_path / "s.pth", tiny.sovits_weights(networks.sovits))
    tiny.save_vocoder(tmp_path / "b", networks.vocoder)
    files = replace(
        voice,
        gpt=tmp_path / "g.ckpt",
        sovits=tmp_path / "s.pth",
        bigvgan=tmp_path / "b",
        hubert=crafted.hubert(tmp_path / "h", tiny.SOVITS.semantic),
        bert=crafted.bert(tmp_path / "r", tiny.T2S.bert),
    )
    found = inspect_tts_files(files)
    assert {problem.kind for problem in found.problems} == {Kind.UNUSUAL_SIZE} and found.usable
    assert len(found.recognised) == 5
