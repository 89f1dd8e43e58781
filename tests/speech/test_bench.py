"""The bench command with real children on small networks, what it says when they break, and its advice."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.line.bench_results import Results
from rocm_wizard.line.bench_run import BenchRun
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.runner.spec import ChildSpec

COMMAND = [sys.executable, "-m", "rocm_wizard", "bench"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program as a person starts it; small networks only wait for a second thread."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, encoding="utf-8", timeout=170, check=False, env=environment
    )


@pytest.mark.slow
def test_tts_measures_every_part_and_recommends(tmp_path: Path) -> None:
    done = run("tts", "--tiny", "--rounds", "1", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["random_weights"], document["quality_judged"], document["exit_code"]) == (True, False, 0)
    assert "nothing that they say was judged" in done.stderr.splitlines()[0]
    rows = {row["id"]: row for row in document["measurements"]}
    for frames in (33, 38, 51, 75):
        assert {f"bigvgan_{frames}", f"bigvgan_bucket_{frames}"} <= rows.keys()
    assert rows["cfm_first_16"]["frames"] == 80 + 75
    assert rows["cfm_later_32"]["frames"] == 75 + 75
    assert rows["cfm_later_32_step"]["cold"] == pytest.approx(rows["cfm_later_32"]["cold"] / 32, rel=1e-3)
    assert all(row["cold"] is None or row["cold"] > 0 for row in rows.values())
    assert all(len(row["warm"]) == 1 for id, row in rows.items() if id != "load")
    assert rows["throughput_2"]["equal"] is True, "two threads at once speak what one after the other speaks"
    assert 100 * 2**20 < rows["memory_process"]["warm"][0] < 2**31
    assert "CUDA and HIP only" in document["not_available"]["t2s_speed_graph"]
    assert "memory_device" in document["not_available"]
    families = sorted(advice["id"].partition("_")[0] for advice in document["advice"])
    assert families == ["bench.blocks", "bench.bucket", "bench.parallel", "bench.steps"]


@pytest.mark.slow
def test_asr_prints_a_table_that_says_what_it_is() -> None:
    done = run("asr", "--tiny", "--quick", "--device", "cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    first, *lines = done.stdout.splitlines()
    assert first.startswith("Random weights")
    assert lines[0].startswith("These networks are tiny")
    (clip,) = [line.split() for line in lines if line.startswith("a clip of 2 s, 6 tokens")]
    (factor,) = [line.split() for line in lines[lines.index("") :] if line.startswith("  real-time factor")][-1:]
    assert float(factor[-1]) == pytest.approx(float(clip[-2]) / 2, abs=0.02)


def test_a_device_that_is_not_there_is_could_not_check() -> None:
    done = run("tts", "--device", "cuda:99", "--tiny")
    assert done.returncode == 3
    assert "cuda:99 was asked for and is not available" in done.stdout
    assert "Nothing is known about its speed" in done.stdout


def test_an_unknown_profile_is_a_usage_error() -> None:
    done = run("asr", "--profile", "tea")
    assert done.returncode == 2
    assert "error: there is no profile 'tea'" in done.stderr and "local-rocm" in done.stderr


SAY = 'import os, sys\ndef say(text):\n    sys.stdout.write(text + "\\n")\n    sys.stdout.flush()\n'
BEGUN = """say('{"type": "begin", "part": "bigvgan_33"}')\n"""
MEASURED = """say('{"type": "measurement", "id": "t2s_speed", "unit": "tokens/s", "cold": 9.5, "warm": [10, 12]}')\n"""


@pytest.mark.parametrize(
    ("ending", "id", "words"),
    [
        ("os.abort()", "bench.child_ended", "bigvgan_33"),
        ("sys.exit(7)", "bench.child_ended", "exit code 7"),
        ("say('hello')", "bench.rubbish", "hello"),
        ("""say('{"type": "measurement", "id": "load"}')""", "bench.rubbish", "cold"),
        ("""say('{"type": "error", "msg": "BENCH_FAIL: out of memory"}')""", "bench.child_failed", "out of memory"),
        ("import time; time.sleep(60)", "bench.hung", "bigvgan_33"),
    ],
)
def test_what_was_measured_outlives_a_child_that_breaks(tmp_path: Path, ending: str, id: str, words: str) -> None:
    told: list[str] = []
    bench = BenchRun(Catalogue("en"), told.append, silent_seconds=3)
    code = bench.run(ChildSpec("bench", [sys.executable, "-c", SAY + MEASURED + BEGUN + ending], tmp_path), tmp_path)
    assert code is ExitCode.FAILED
    assert bench.trouble is not None and bench.trouble.id == id
    assert words in Catalogue("en").sentence(bench.trouble)
    assert any("T2S" in line and "9.50" in line and "11.00" in line for line in told), told
    document = bench.document("tts", code)
    assert [row["id"] for row in document["measurements"]] == ["t2s_speed"]
    assert document["trouble"]["id"] == id


def test_an_interpreter_that_is_not_there_is_could_not_check(tmp_path: Path) -> None:
    bench = BenchRun(Catalogue("zh"), [].append)
    assert bench.run(ChildSpec("bench", [str(tmp_path / "没有")], tmp_path), tmp_path) is ExitCode.COULD_NOT_CHECK
    assert bench.trouble is not None and bench.trouble.id == "bench.not_started"


def measured(**values: tuple[float | None, float]) -> Results:
    """Results with one warm value each."""
    results = Results()
    for id, (cold, warm) in values.items():
        message: dict[str, Any] = {"type": "measurement", "id": id, "unit": "", "cold": cold, "warm": [warm]}
        results.take(message | ({"equal": True} if id in ("t2s_speed_graph", "throughput_2") else {}))
    return results


def test_the_bucket_is_judged_length_by_length() -> None:
    """A long block costs more than a short one without any search; only the same length may be compared."""
    no_search = measured(
        bigvgan_80=(900, 75),
        bigvgan_bucket_33=(75, 75),
        bigvgan_bucket_75=(75, 75),
        bigvgan_33=(31, 30),
        bigvgan_75=(71, 70),
    )
    search = measured(bigvgan_80=(900, 75), bigvgan_bucket_33=(75, 75), bigvgan_33=(2400, 30), bigvgan_75=(71, 70))
    assert [advice.id for advice in no_search.advice()] == ["bench.bucket_off"]
    (advice,) = search.advice()
    assert (advice.id, advice.facts["extra_off"]) == ("bench.bucket_on", 2370)


def test_nothing_is_recommended_that_was_not_measured_both_ways() -> None:
    assert measured(first_audio_long_16=(1, 1), real_time_factor_long_16=(1, 1), t2s_speed=(1, 1)).advice() == []
