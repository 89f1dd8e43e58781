"""The engine around its networks: what it refuses to load, what belongs to HIP, graphs, dictionaries."""

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rocm_wizard.speech.gpt_sovits import engine as engine_module
from rocm_wizard.speech.gpt_sovits.engine import GptSovitsEngine, load_engine
from rocm_wizard.speech.gpt_sovits.files import ModelFiles, find_files
from rocm_wizard.speech.gpt_sovits.graphs import GraphCheck
from rocm_wizard.speech.gpt_sovits.t2s import Generation, T2SDecoder
from rocm_wizard.speech.serve import LoadFailure
from rocm_wizard.speech.speaker import StageTimes
from rocm_wizard.speech.tts_request import TtsRequest, read_request
from tests.speech.gpt_sovits import tiny
from tests.speech.gpt_sovits.tiny import TinyVoice, save_tiny_voice

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> TinyVoice:
    return save_tiny_voice(tmp_path_factory.mktemp("声 音"))


@pytest.fixture(scope="module")
def files(voice: TinyVoice) -> ModelFiles:
    named = {"gpt": voice.gpt, "sovits": voice.sovits, "pretrained": voice.pretrained}
    return find_files(named, None, {}, voice.gpt.parent)


def request(voice: TinyVoice, **options: object) -> TtsRequest:
    message: Mapping[str, Any] = {
        "type": "infer_stream",
        "request_id": "r",
        "request": {
            "text": "A short sentence.",
            "language": "en",
            "reference_audio": str(voice.reference),
            "reference_text": voice.reference_text,
            "chunk_size_seconds": 0.4,
            "options": {"max_sec_override": 0.6, "sample_steps": 1, **options},
        },
    }
    return read_request(dict(message), GptSovitsEngine.languages)


def test_files_that_do_not_belong_together_are_refused_before_they_are_loaded(
    files: ModelFiles, tmp_path: Path
) -> None:
    """A GPT file of v1 has phonemes of its own: the shapes fit, and the sound would be noise."""
    tiny.save_gpt(tmp_path / "v1.ckpt", T2SDecoder(replace(tiny.T2S, phonemes=512)))
    with pytest.raises(LoadFailure, match=r"v1\.ckpt: pair phonemes"):
        load_engine(replace(files, gpt=tmp_path / "v1.ckpt"), CPU, {})


def test_a_file_without_one_weight_is_named(files: ModelFiles, tmp_path: Path) -> None:
    decoder = T2SDecoder(tiny.T2S)
    weight = {f"model.{name}": tensor for name, tensor in decoder.state_dict().items() if name != "bert_proj.weight"}
    config = {"model": {"head": decoder.config.heads}, "data": {"max_sec": 54}}
    torch.save({"weight": weight, "config": config, "info": "GPT-e15"}, tmp_path / "gap.ckpt")
    with pytest.raises(LoadFailure, match=r"gap\.ckpt.*bert_proj\.weight"):
        load_engine(replace(files, gpt=tmp_path / "gap.ckpt"), CPU, {})


def test_a_rocm_torch_on_the_cpu_keeps_the_rules_of_the_cpu(files: ModelFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "is_hip", lambda: True)
    assert load_engine(files, CPU, {}).facts()["bucket_mels"] == 0


def test_a_broken_dictionary_stops_its_language_and_not_the_start(
    files: ModelFiles, voice: TinyVoice, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpora = tmp_path / "nltk" / "corpora"
    corpora.mkdir(parents=True)
    with zipfile.ZipFile(corpora / "cmudict.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cmudict/cmudict", "HELLO 1 HH AH0 L OW1\n" * 2000)
    damaged = bytearray((corpora / "cmudict.zip").read_bytes())
    damaged[60:70] = b"\xff" * 10
    (corpora / "cmudict.zip").write_bytes(damaged)
    engine = load_engine(replace(files, nltk=tmp_path / "nltk"), CPU, {})
    engine.warm_up()
    told = capsys.readouterr().err
    assert "warm-up of en: NLTK's cmudict cannot be read" in told
    assert "warm-up of ja" not in told


def test_graphs_are_used_only_where_the_request_asks_for_them(
    files: ModelFiles, voice: TinyVoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def generate(self: T2SDecoder, *_: object, graph: bool, **__: object) -> Generation:
        seen.append(graph)
        return Generation(torch.arange(20), True, 0.1)

    monkeypatch.setattr(T2SDecoder, "generate", generate)
    loaded = load_engine(files, CPU, {"ENABLE_CUDA_GRAPH": "1"})
    allowed = GptSovitsEngine(loaded._voice, {}, GraphCheck(True, "allowed"))
    for asked in (False, True):
        speaker = allowed.speaker(request(voice, enable_cuda_graph=asked))
        times = StageTimes()
        for part in speaker.parts("A short sentence.", times):
            next(iter(speaker.speak(part, 1.0, 0.4, times)))
    assert seen == [False, True]
