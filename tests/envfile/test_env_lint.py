"""The catalogue of the host's voice keys, and what it says about values."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocm_wizard import envfile
from rocm_wizard.assets import asset
from rocm_wizard.audio.wav import write_wav
from rocm_wizard.envfile import Difference, EnvFileError, NoticeCode, Weight, errors, lint, load_catalogue
from rocm_wizard.report.catalogue import load_strings
from rocm_wizard.stages.env_models import sound_seconds
from tests.envfile.env_support import parse

CATALOGUE = load_catalogue(asset("env_catalogue.toml"))

# Sections 2 and 3 of the project's notes about the host's keys.
_NOTED = """
ASR_BACKEND ASR_LANGUAGE ASR_CONTEXT QWEN3_ASR_MODE QWEN3_ASR_PYTHON QWEN3_ASR_MODEL_PATH QWEN3_ASR_DEVICE
QWEN3_ASR_REQUIRE_CUDA QWEN3_ASR_WARMUP QWEN3_ASR_CUDA_FAILURE_SIDECAR_SECONDS ASR_LISTEN_TIMEOUT_SECONDS
ASR_VAD_SILENCE_MS ASR_MAX_SPEECH_SECONDS ASR_SPECULATIVE_TRANSCRIBE ASR_SPECULATIVE_END_MS
ASR_IDLE_UNLOAD_SECONDS ASR_TURN_COMPLETE_TIMEOUT_SECONDS WAKE_ENABLED WAKE_ASR_BACKEND WAKE_PHRASES TTS_BACKEND
TTS_MODE TTS_PYTHON TTS_DEVICE TTS_REQUIRE_CUDA TTS_VOICE_PROFILE TTS_GPT_MODEL_PATH TTS_SOVITS_MODEL_PATH
TTS_OUTPUT_LANGUAGE TTS_REF_AUDIO_JA TTS_REF_TEXT_JA TTS_REF_AUDIO_EN TTS_REF_TEXT_EN TTS_T2S_BACKEND
TTS_T2S_FLASH_ATTN TTS_T2S_FLASH_ATTN_MODE ENABLE_CUDA_GRAPH ENABLE_CUDA_GRAPH_PRECAPTURE
CUDA_GRAPH_PRECAPTURE_BUCKETS BIGVGAN_USE_CUDA_KERNEL BIGVGAN_CACHE_ID TTS_BIGVGAN_STREAM_BUCKET_MELS
TTS_RUNTIME_WARMUP TTS_SESSION_WARMUP TTS_BIGVGAN_WARMUP_MELS TTS_STARTUP_INFERENCE_WARMUP TTS_SEMANTIC_GUARD
TTS_SOVITS_SYNC_TIMING TTS_STREAM_SYNC_TIMING TTS_DIAG_VERBOSE USE_EXPERIMENTAL_TTS_STREAM
EXP_TTS_MAX_CONCURRENCY ENABLE_TTS_UTTERANCE_SCHEDULER TTS_UTTERANCE_MIN_START_SEQ TTS_UTTERANCE_MAX_SENTENCES
TTS_UTTERANCE_MAX_CHARS TTS_UTTERANCE_FLUSH_TIMEOUT_MS TTS_DEADLINE_AGGREGATION TTS_COVER_SAFETY_MARGIN_SEC
TTS_RTF_INITIAL TTS_CHARS_PER_SEC SEGMENT_CHAR_LIMIT FIRST_SENTENCE_EARLY_CUT_CHARS
FIRST_SENTENCE_AUDIO_CACHE_ENABLED FIRST_SENTENCE_AUDIO_CACHE_MAX_SECONDS PLAYBACK_PREWARM_AUDIO
PLAYBACK_PREWARM_SAMPLE_RATE PLAYBACK_PREWARM_SILENCE_MS NLTK_DATA HF_HUB_OFFLINE TRANSFORMERS_OFFLINE
TTS_CUDA_VISIBLE_DEVICES
"""
NOTED = _NOTED.split()


def found(text: str, **options: Any) -> list[tuple[str, str, str, int | None]]:
    return [(p.code, p.weight, p.key, p.line) for p in lint(parse(text), CATALOGUE, **options)]


def codes(text: str, **options: Any) -> list[str]:
    return [problem[0] for problem in found(text, **options)]


def test_every_noted_key_is_in_the_catalogue_and_no_other() -> None:
    assert [spec.name for spec in CATALOGUE.keys] == NOTED
    assert all(spec.meaning and spec.source for spec in CATALOGUE.keys)


def test_every_default_is_itself_allowed() -> None:
    for spec in CATALOGUE.keys:
        if spec.default:
            bad = [code for code in codes(f"{spec.name}='{spec.default}'\n") if not code.startswith("rule_")]
            assert bad in ([], ["not_baseline"]), spec.name


@pytest.mark.parametrize("profile", ["rocm", "cuda", "cpu"])
def test_the_templates_only_problems_are_their_stand_ins(profile: str) -> None:
    document = parse(asset(f"voice-{profile}.env").read_bytes())
    problems = [problem for problem in lint(document, CATALOGUE) if problem.weight is not Weight.NOTE]
    assert {problem.code for problem in problems} == {"placeholder"}
    assert len(problems) == 4


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("QWEN3_ASR_DEVICE=cuda:1", ("asr_device_refused", "breaks")),
        ("QWEN3_ASR_DEVICE=rocm", ("not_allowed", "breaks")),
        ("TTS_VOICE_PROFILE=amy", ("not_allowed", "breaks")),
        ("TTS_T2S_FLASH_ATTN=maybe", ("not_allowed", "breaks")),
        ("QWEN3_ASR_MODE=remote", ("not_allowed", "trap")),
        ("TTS_OUTPUT_LANGUAGE=ja", ("not_allowed", "trap")),
        ("EXP_TTS_MAX_CONCURRENCY=two", ("number_stops", "breaks")),
        ("EXP_TTS_MAX_CONCURRENCY=1.0", ("number_stops", "breaks")),
        ("ASR_VAD_SILENCE_MS=nan", ("number_stops", "breaks")),
        ("TTS_BIGVGAN_STREAM_BUCKET_MELS=80.0", ("number_ignored", "trap")),
        ("EXP_TTS_MAX_CONCURRENCY=3", ("clamped", "trap")),
        ("EXP_TTS_MAX_CONCURRENCY=0", ("clamped", "trap")),
        ("ASR_LISTEN_TIMEOUT_SECONDS=121", ("unusual", "trap")),
        ("QWEN3_ASR_REQUIRE_CUDA=on", ("truth_differs", "trap")),
        ("WAKE_ENABLED=on", ("truth_missed", "trap")),
        ("TTS_SOVITS_SYNC_TIMING=true", ("truth_missed", "trap")),
        ("TTS_RUNTIME_WARMUP=n", ("falsehood_missed", "trap")),
        ("WAKE_ENABLED=perhaps", ("no_boolean", "trap")),
        ("TTS_BIGVGAN_WARMUP_MELS=64;80", ("not_numbers", "trap")),
        ("BIGVGAN_USE_CUDA_KERNEL=1", ("not_baseline", "trap")),
        ("TTS_T2S_FLASH_ATTN=auto", ("not_baseline", "trap")),
        ("TTS_BIGVGAN_STREAM_BUCKET=80", ("near_miss", "trap")),
        ("tts_device=cpu", ("near_miss", "trap")),
        ("TTS_DEVCE=cpu", ("near_miss", "trap")),
        ("TTS_GPT_MODEL_PATH=x/YOUR_GPT.ckpt", ("placeholder", "breaks")),
        ("EXP_TTS_MAX_CONCURRENCY=   # one", ("number_stops", "breaks")),
    ],
)
def test_one_problem_a_line(line: str, problem: tuple[str, str]) -> None:
    key = line.partition("=")[0]
    rest = [one for one in found(f"A=1\n\n{line}\n") if not one[0].startswith("rule_")]
    assert rest == [(*problem, key, 3)]


@pytest.mark.parametrize(
    "line",
    [
        "QWEN3_ASR_DEVICE=CUDA:0", "QWEN3_ASR_DEVICE=", "QWEN3_ASR_DEVICE", "EXP_TTS_MAX_CONCURRENCY= 2 ",
        "QWEN3_ASR_REQUIRE_CUDA=TRUE", "TTS_RUNTIME_WARMUP=0", "TTS_REF_TEXT_ZH=x", "TTS_REF_AUDIO_ZH=x", "MY_DEVICE=x",
        "TTS_SOMETHING_QUITE_NEW=1", "WAKE_PHRASES=a,b", "CUDA_GRAPH_PRECAPTURE_BUCKETS=448, 512,",
    ],
)  # fmt: skip
def test_no_problem_where_the_host_has_none(line: str) -> None:
    assert [code for code in codes(line + "\n") if not code.startswith("rule_mode")] in ([], ["rule_asr_falls_back"])


def test_a_key_that_the_checkouts_example_has_is_no_near_miss() -> None:
    assert codes("TTS_DEVICES=x\n") == ["near_miss"]
    assert codes("TTS_DEVICES=x\n", known={"TTS_DEVICES"}) == []


def test_values_are_judged_as_the_host_reads_them() -> None:
    assert codes("N=two\nEXP_TTS_MAX_CONCURRENCY=${N}\n") == ["number_stops"]
    assert codes("EXP_TTS_MAX_CONCURRENCY=${N}\n", environment={"N": "1"}) == ["rule_mode_standard"]
    assert codes("EXP_TTS_MAX_CONCURRENCY=two\nEXP_TTS_MAX_CONCURRENCY=2\n") == ["rule_mode_parallel"]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("ENABLE_CUDA_GRAPH=1\nENABLE_CUDA_GRAPH_PRECAPTURE=0", ["graph_with_standard"]),
        ("ENABLE_CUDA_GRAPH=1\nEXP_TTS_MAX_CONCURRENCY=1", ["graph_with_standard"]),
        ("ENABLE_CUDA_GRAPH=1\nEXP_TTS_MAX_CONCURRENCY=2", ["graph_with_parallel"]),
        ("ENABLE_CUDA_GRAPH=0", ["precapture_without_graph", "mode_standard"]),
        ("ENABLE_CUDA_GRAPH=0\nENABLE_CUDA_GRAPH_PRECAPTURE=0", ["mode_standard"]),
        ("EXP_TTS_MAX_CONCURRENCY=2\nENABLE_CUDA_GRAPH_PRECAPTURE=0", ["mode_parallel"]),
        ("QWEN3_ASR_DEVICE=cuda\nQWEN3_ASR_REQUIRE_CUDA=false", ["asr_falls_back"]),
        ("QWEN3_ASR_DEVICE=cuda", ["asr_falls_back"]),
        ("QWEN3_ASR_DEVICE=cuda\nQWEN3_ASR_REQUIRE_CUDA=yes", []),
        ("QWEN3_ASR_DEVICE=cpu\nQWEN3_ASR_REQUIRE_CUDA=1", ["asr_requires_absent_gpu"]),
        ("TTS_DEVICE=cuda:1", ["tts_falls_back"]),
        ("TTS_DEVICE=cuda\nTTS_REQUIRE_CUDA=1", ["tts_device_prints"]),
        ("TTS_DEVICE=cpu\nTTS_REQUIRE_CUDA=on", ["tts_requires_absent_gpu"]),
        ("TTS_PYTHON=x\nTTS_MODE=", ["tts_python_without_sidecar"]),
        ("TTS_PYTHON=x\nTTS_MODE=subprocess", []),
        ("QWEN3_ASR_PYTHON=x", ["asr_python_without_sidecar"]),
        ("TTS_VOICE_PROFILE=kurisu_v3", ["voice_profile_overrides"]),
        ("TTS_VOICE_PROFILE=Custom", []),
        ("TTS_BACKEND=mimo\nTTS_MODE=sidecar", ["tts_is_remote"]),
        ("WAKE_ENABLED=yes", ["wake_before_proof"]),
        ("USE_EXPERIMENTAL_TTS_STREAM=false", ["no_streaming"]),
        ("ENABLE_TTS_UTTERANCE_SCHEDULER=1", ["merged_sentences"]),
        ("TTS_BIGVGAN_STREAM_BUCKET_MELS=90", ["bucket_changed"]),
        ("TTS_BIGVGAN_STREAM_BUCKET_MELS=96", ["bucket_changed", "bucket_not_warmed"]),
        ("TTS_BIGVGAN_STREAM_BUCKET_MELS=96\nTTS_BIGVGAN_WARMUP_MELS=64,96", ["bucket_changed"]),
        ("TTS_BIGVGAN_STREAM_BUCKET_MELS=80", []),
        ("TTS_SOVITS_SYNC_TIMING=1", ["timing_slows"]),
        ("TTS_STREAM_SYNC_TIMING=1", ["stream_timing_slows"]),
        ("OTHER=1", []),
    ],
)
def test_combinations(text: str, rules: list[str]) -> None:
    assert [code.removeprefix("rule_") for code in codes(text + "\n") if code.startswith("rule_")] == rules


def test_every_rule_is_shown_above() -> None:
    shown = {rule for mark in getattr(test_combinations, "pytestmark") for _, rules in mark.args[1] for rule in rules}  # noqa: B009
    assert shown == {rule.id for rule in CATALOGUE.rules}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "检出 x"
    (folder / "w").mkdir(parents=True)
    (folder / "w/good.ckpt").write_bytes(b"weights")
    (folder / "w/empty.ckpt").write_bytes(b"")
    (folder / "w/pointer.ckpt").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    (folder / "w/weights.bin").write_bytes(b"weights")
    (folder / "w/broken.wav").write_bytes(b"RIFF?")
    for name, seconds in (("short", 2.9), ("fits", 3.0), ("long", 10.1)):
        tone = 0.1 * np.sin(np.arange(round(seconds * 8000)) * 0.3)
        write_wav(folder / f"w/{name}.wav", tone, 8000)
    return folder


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("TTS_GPT_MODEL_PATH=w/good.ckpt", None),
        ("TTS_GPT_MODEL_PATH=w/none.ckpt", ("path_missing", "breaks")),
        ("TTS_GPT_MODEL_PATH=w", ("path_no_file", "breaks")),
        ("TTS_GPT_MODEL_PATH=w/empty.ckpt", ("path_empty", "breaks")),
        ("TTS_GPT_MODEL_PATH=w/pointer.ckpt", ("path_lfs_pointer", "breaks")),
        ("TTS_GPT_MODEL_PATH=w/weights.bin", ("path_suffix", "breaks")),
        ("QWEN3_ASR_MODEL_PATH=w", None),
        ("QWEN3_ASR_MODEL_PATH=w/good.ckpt", ("path_no_folder", "breaks")),
        ("NLTK_DATA=./nowhere", ("path_missing", "trap")),
        ("TTS_REF_AUDIO_JA=w/fits.wav", None),
        ("TTS_REF_AUDIO_JA=w/short.wav", ("path_too_short", "breaks")),
        ("TTS_REF_AUDIO_EN=w/long.wav", ("path_too_long", "breaks")),
        ("TTS_REF_AUDIO_JA=w/broken.wav", ("path_no_sound", "breaks")),
        ("QWEN3_ASR_PYTHON=w/nowhere.exe", ("path_ignored", "trap")),
    ],
)
def test_files_that_paths_lead_to(checkout: Path, line: str, problem: tuple[str, str] | None) -> None:
    problems = found(line + "\n", root=checkout, seconds_of=sound_seconds)
    assert [one[:2] for one in problems if not one[0].startswith("rule_")] == ([problem] if problem else [])
    assert codes(line + "\n") in ([], ["rule_asr_python_without_sidecar"])  # without a checkout no file is looked for


def test_a_catalogue_with_a_mistake_is_refused_by_entry(tmp_path: Path) -> None:
    text = asset("env_catalogue.toml").read_text(encoding="utf-8")
    wrong = {
        "two entries": text.replace('name = "ASR_CONTEXT"', 'name = "ASR_LANGUAGE"'),
        "ASR_LANGUAGE": text.replace('name = "ASR_LANGUAGE"\ntype = "text"', 'name = "ASR_LANGUAGE"\ntype = "tex"'),
        "ASR_CONTEXT": text.replace('name = "ASR_CONTEXT"', 'name = "ASR_CONTEXT"\nspeed = 1'),
        "no_streaming": text.replace('{ key = "USE_EXPERIMENTAL_TTS_STREAM", is', '{ key = "USE_EXPERIMENTAL", is'),
    }
    for named, content in wrong.items():
        path = tmp_path / "bad.toml"
        path.write_text(content, encoding="utf-8")
        with pytest.raises((ValueError, TypeError), match=named):
            load_catalogue(path)


def test_whatever_can_be_found_has_words_in_the_catalogue_of_sentences() -> None:
    words = load_strings("en")["finding"]
    rules = {f"rule_{rule.id}" for rule in CATALOGUE.rules}
    notices = {f"notice_{code}" for code in set(NoticeCode) - {NoticeCode.NODE_CUTS, NoticeCode.PLACEHOLDER}}
    folder = Path(str(envfile.__file__)).parent
    source = "".join((folder / name).read_text(encoding="utf-8") for name in ("lint.py", "paths.py"))
    values = set(re.findall(r'yield "(\w+)"', source)) | {"near_miss", "clamped", "unusual", "path_ignored"}
    values |= {"asr_device_refused", "not_allowed", "number_stops", "number_ignored"}
    files = {f"path_{code}" for code in re.findall(r'PathFault\("(\w+)"', source)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, EnvFileError)]
    failures = {kind.code for kind in kinds if kind is not EnvFileError}
    readers = {f"node_{difference}" for difference in Difference}
    assert min(map(len, (rules, notices, values, files, failures, readers))) >= 4
    codes = rules | notices | values | files | failures | readers
    assert {code for code in codes if f"env.{code}" not in words} == set()
    weights = {rule["weight"] for rule in tomllib.loads(asset("env_catalogue.toml").read_text("utf-8"))["rule"]}
    assert weights <= set(Weight)
