"""The ASR sidecar with `--engine qwen3_asr` as a child process, on a small random model; no network is reached."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.speech.qwen3_asr_tiny import WEIGHTS, save_tiny_model
from tests.speech.speech_child import Child, payload
from tests.speech.test_sidecar_start import OFFLINE

RATE = 16_000
LANGUAGES = 30
ENGINE = ("rocm_wizard.speech.asr", "--engine", "qwen3_asr")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, in a folder with a blank and Chinese characters."""
    found = tmp_path_factory.mktemp("qwen") / "模型 folder"
    save_tiny_model(found)
    return found


@pytest.fixture(scope="module")
def qwen(folder: Path) -> Iterator[Child]:
    """A sidecar, ready or not, that dies with exit code 77 at the first attempt to reach a network."""
    settings = {"QWEN3_ASR_MODEL_PATH": str(folder), "QWEN3_ASR_DEVICE": "cpu", "OMP_NUM_THREADS": "1"}
    with Child(["-u", "-c", OFFLINE, *ENGINE], settings) as child:
        yield child


def clip(seconds: float, rate: int = RATE) -> npt.NDArray[np.float32]:
    """A rising tone in noise."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(7).standard_normal(time.size)
    return (0.3 * np.sin(2 * np.pi * (200 + 150 * time) * time) + 0.02 * noise).astype(np.float32)


def test_ready_says_what_was_loaded_and_how(qwen: Child, folder: Path) -> None:
    ready = qwen.receive()
    weights = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    assert {"type": "ready", "device": "cpu", "attn_impl": "sdpa", "warmup_ms": 0, "hip": None}.items() <= ready.items()
    assert {"engine": "qwen3_asr", "model": "模型 folder", "weights_sha256": weights}.items() <= ready.items()
    assert (ready["dtype"], ready["cuda_available"]) == ("float32", False)
    assert ready["load_ms"] > 0


@pytest.mark.parametrize(("seconds", "tokens"), [(0.5, 32), (5.15, 51), (30, 256)])
def test_an_answer_has_ten_tokens_a_second_at_least_32_and_at_most_256(
    qwen: Child, seconds: float, tokens: int
) -> None:
    heard = qwen.ask(audio_b64=payload(clip(seconds)), language="English", request_id="a")
    assert (heard["type"], heard["tokens"], heard["request_id"]) == ("result", tokens, "a")
    assert heard["audio_seconds"] == pytest.approx(seconds)
    assert 0 < heard["encode_ms"] < heard["inference_ms"]
    assert 0 < heard["decode_ms"] < heard["inference_ms"]
    assert "speech_ratio" not in heard


def test_the_text_depends_on_sound_language_and_context_and_on_nothing_else(qwen: Child) -> None:
    def text(seconds: float, **fields: object) -> str:
        return qwen.ask(audio_b64=payload(clip(seconds)), **fields)["text"]

    plain = text(2, language="English", context="")
    assert plain and plain == plain.strip()
    assert text(2, language="English") == plain
    assert plain not in {text(2.5, language="English"), text(2, language="Japanese"), text(2, language=None)}
    named = text(2, language="English", context="Amadeus, 紅莉栖")
    assert named != plain
    assert text(2, language="English", context="Amadeus, 紅莉栖") == named


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ({"language": "Japanese"}, "Japanese"),
        ({"language": " japanese"}, "Japanese"),
        ({"language": "Filipino"}, "Filipino"),
        ({"language": None}, ""),
        ({"language": ""}, ""),
        ({}, "Chinese"),
    ],
)
def test_a_language_is_named_in_full_detected_or_chinese(qwen: Child, fields: dict[str, object], language: str) -> None:
    assert qwen.ask(audio_b64=payload(clip(0.5)), **fields)["language"] == language


@pytest.mark.parametrize("code", ["ja", "zh-cn", "EN", "Klingon"])
def test_an_iso_code_is_refused_and_the_accepted_names_are_told(qwen: Child, code: str) -> None:
    answer = qwen.ask(audio_b64=payload(clip(0.5)), language=code)
    assert (answer["type"], answer["msg"].split(";")[0]) == ("error", f"language {code!r} is unknown")
    names = answer["msg"].partition("one of: ")[2].split(", ")
    assert len(names) == LANGUAGES
    assert {"Chinese", "Cantonese", "English", "Japanese", "Macedonian"} <= set(names)


def test_clips_from_201_samples_to_30_seconds_are_taken(qwen: Child) -> None:
    assert "200 samples" in qwen.ask(audio_b64=payload(np.zeros(200)))["msg"]
    assert qwen.ask(audio_b64=payload(np.zeros(201)))["type"] == "result"
    assert "at most 30 s" in qwen.ask(audio_b64=payload(np.zeros(30 * RATE + 1)))["msg"]


def test_another_sample_rate_is_resampled(qwen: Child) -> None:
    heard = qwen.ask(audio_b64=payload(clip(3.5, 44_100)), sample_rate=44_100, language="English")
    assert (heard["audio_seconds"], heard["tokens"]) == (3.5, 35)


def test_it_ends_with_stdin_and_wrote_nothing_beside_its_answers(qwen: Child) -> None:
    assert qwen.close() == 0
    assert qwen.lines.get(timeout=10) == b""
    # The host's ASR side never reads stderr: a full pipe would stop us.
    assert len(qwen.stderr) < 4096


def refused(*options: str) -> str:
    """The message of a sidecar that could not load; nothing follows it and the exit code is 1."""
    with Child(["-u", "-m", *ENGINE, *options]) as child:
        failure = child.receive()
        assert failure["type"] == "error"
        assert {"device", "torch", "hip", "cuda_available"} <= failure.keys()
        assert child.process.wait(timeout=60) == 1
        assert child.lines.get(timeout=10) == b""
        return failure["msg"]


def test_missing_files_are_named_all_at_once(tmp_path: Path) -> None:
    save_tiny_model(tmp_path)
    for name in ("merges.txt", "chat_template.json", WEIGHTS):
        (tmp_path / name).unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    message = refused("--model", str(tmp_path))
    assert message.startswith(f"LOAD_FAIL: {tmp_path} is no complete Qwen3-ASR folder: ")
    assert message.endswith(f"chat_template.json, merges.txt, {WEIGHTS} missing (pickled weights are never read)")


def test_a_device_that_is_not_there_is_named(folder: Path) -> None:
    assert "device cuda:9 was asked for and is not available" in refused("--model", str(folder), "--device", "cuda:9")


def test_json_of_the_folder_is_what_the_published_folder_has(folder: Path) -> None:
    """The tiny folder stands for the real one only while it has the same eight files."""
    assert sorted(path.name for path in folder.iterdir()) == [
        "chat_template.json",
        "config.json",
        "generation_config.json",
        "merges.txt",
        "model.safetensors",
        "preprocessor_config.json",
        "tokenizer_config.json",
        "vocab.json",
    ]
    assert json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"] == "qwen3_asr"
