"""The examination for authors: a sidecar that keeps the wire passes, and each planted fault is named."""

import json
import sys
import time
from pathlib import Path

import psutil
import pytest

from rocm_wizard.cli import main
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.report.catalogue import load_strings
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.runner.spec import Child, ChildSpec
from rocm_wizard.sidecar.conformance.examine import Examiner
from rocm_wizard.sidecar.conformance.rules import RULES, Judged, State

CHILD = Path(__file__).parent.parent / "children" / "sidecars" / "conforming.py"
SPREAD: dict[str, set[str]] = {
    "ids_echoed": {"unicode", "pipelined", "interruption"},
    "interruption": {"ids_echoed", "pipelined"},
    "nan_input": {"keeps_running"},
    "pipelined": {"ids_echoed"},
    "unicode": {"ids_echoed"},
}
"""What a fault may break beside its own rule, because it follows from it."""
SHORT = {
    fault: 1.0
    for fault in (
        *("nan_input", "valid_request", "second_request_hangs"),
        *("prints_forever", "prints_forever_at_the_end"),
    )
}
"""Seconds that a message may take where the fault is that none comes."""
SHARED = set(RULES["asr"]) & set(RULES["tts"])
FAULTS = (
    [("asr", rule) for rule in RULES["asr"]]
    + [("tts", rule) for rule in RULES["tts"] if rule not in SHARED]
    + [("tts", rule) for rule in ("unicode", "pipelined", "keeps_running")]
)


def examine(folder: Path, kind: str, fault: str = "", child: Path = CHILD) -> dict[str, Judged]:
    runner = RealRunner(lambda event: None, folder / "logs")
    spec = ChildSpec(f"{kind} sidecar", [sys.executable, str(child), kind, fault], folder)

    def start() -> Child:
        return runner.start(spec, "conform", CancelToken())

    waits = SHORT.get(fault, 10.0)
    before = set(psutil.Process().children(recursive=True))
    host_limits = (10.0, 0.4 if fault == "host_limits" else 10.0)
    judged = Examiner(kind, start, waits, min(10.0, 3 * waits), host_limits=host_limits).run()
    left = set(psutil.Process().children(recursive=True)) - before
    assert [child for child in left if child.status() != psutil.STATUS_ZOMBIE] == []
    assert [one.rule for one in judged] == list(RULES[kind])
    return {one.rule: one for one in judged}


@pytest.mark.parametrize("kind", ["asr", "tts"])
def test_a_sidecar_that_keeps_the_wire_passes(tmp_path: Path, kind: str) -> None:
    judged = examine(tmp_path, kind)
    assert [one for one in judged.values() if one.state is not State.KEPT] == []


@pytest.mark.parametrize(("kind", "fault"), FAULTS)
def test_a_planted_fault_is_named(tmp_path: Path, kind: str, fault: str) -> None:
    judged = examine(tmp_path, kind, fault)
    assert judged[fault].state is State.BROKEN, judged[fault]
    assert judged[fault].detail
    spread = {one.rule for one in judged.values() if one.state is State.BROKEN} - {fault}
    assert spread <= SPREAD.get(fault, set())


@pytest.mark.parametrize(("kind", "fault"), [("asr", "second_request"), ("tts", "second_request_hangs")])
def test_one_that_answers_only_once_breaks_that_rule_and_no_other(tmp_path: Path, kind: str, fault: str) -> None:
    judged = examine(tmp_path, kind, fault)
    assert judged["keeps_running"].state is State.BROKEN
    broken = {one.rule for one in judged.values() if one.state is State.BROKEN}
    assert broken == {"keeps_running"}
    assert judged["keeps_running"].detail.startswith("malformed_json, after other requests: ")


@pytest.mark.parametrize(
    ("kind", "mode", "detail"),
    [
        ("tts", "endless", "sent more than 160 MiB without an end"),
        ("asr", "half_surrogate", "text with half a surrogate pair"),
        ("tts", "nothing", "done without sound"),
        ("asr", "unknown_type", "answered with progress"),
    ],
)
def test_what_is_no_answer(tmp_path: Path, kind: str, mode: str, detail: str) -> None:
    judged = examine(tmp_path, kind, mode, CHILD.parent.parent / "bad_sidecar.py")
    assert judged["valid_request"] == Judged("valid_request", State.BROKEN, detail)


def test_a_command_that_does_not_exist_could_not_be_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sidecar", "conform", "--kind", "asr", "--", str(tmp_path / "nothing here")])
    assert code == 3
    assert "0 of 26 rules kept, 0 broken, 26 could not be checked." in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["asr", "tts"])
def test_the_kind_is_told_by_the_first_answer(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    assert main(["sidecar", "conform", "--", sys.executable, str(CHILD), kind, ""]) == 0
    assert f"{len(RULES[kind])} of {len(RULES[kind])} rules kept" in capsys.readouterr().out


def test_a_kind_that_nobody_can_tell_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sidecar", "conform", "--ready", "10", "--", sys.executable, "-c", "pass"]) == 3
    told = capsys.readouterr().err
    assert "--kind" in told and "ended with exit code 0" in told
    assert main(["sidecar", "conform", "--", "no such program"]) == 3
    assert "could not be started" in capsys.readouterr().err


def test_a_child_that_never_stops_talking_is_told_by_the_deadline(tmp_path: Path) -> None:
    started = time.monotonic()
    judged = examine(tmp_path, "asr", "prints_forever", CHILD.parent.parent / "bad_sidecar.py")
    assert judged["ready_first"].state is State.BROKEN
    assert judged["end_of_input"].state is State.COULD_NOT_CHECK
    judged = examine(tmp_path, "tts", "prints_forever_at_the_end", CHILD.parent.parent / "bad_sidecar.py")
    assert judged["end_of_input"] == Judged("end_of_input", State.BROKEN, "did not end within 1 s")
    assert time.monotonic() - started < 20


def test_the_command_line_gives_json_and_its_exit_code(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    command = [sys.executable, str(CHILD), "asr", "odd_bytes"]
    assert main(["sidecar", "conform", "--kind", "asr", "--json", "--deadline", "10", "--", *command]) == 1
    document = json.loads(capfdbinary.readouterr().out)
    assert document["command"] == command
    assert [one["rule"] for one in document["results"] if one["state"] == "broken"] == ["odd_bytes"]
    assert (document["rules"], document["kept"], document["broken"]) == (26, 25, 1)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_rule_has_words_and_every_word_a_rule(language: str) -> None:
    words = load_strings(language)["conform"]
    assert set(words["rule"]) == {*RULES["asr"], *RULES["tts"]}
    assert set(words["state"]) == {str(state) for state in State}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["asr", "tts"])
def test_our_own_sidecars_keep_every_rule(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    command = [sys.executable, "-u", "-m", f"rocm_wizard.speech.{kind}"]
    code = main(["sidecar", "conform", "--kind", kind, "--", *command])
    assert code == 0, capsys.readouterr().out


def test_sound_that_cannot_be_read_shows_nothing_of_its_samples(tmp_path: Path) -> None:
    child = tmp_path / "soundless.py"
    child.write_text(SOUNDLESS, encoding="utf-8")
    judged = examine(tmp_path, "tts", child=child)
    assert judged["chunk_payload"].state is State.BROKEN
    unseen = ("constant_rate", "no_empty_chunk", "finite_samples", "failure_is_told")
    assert {judged[rule].state for rule in unseen} == {State.COULD_NOT_CHECK}


SOUNDLESS = """
import json, sys

def say(**message):
    print(json.dumps(message), flush=True)

say(type="ready", device="cpu", torch="2.9.1", hip=None, cuda_available=False)
for line in sys.stdin:
    try:
        request_id = json.loads(line)["request_id"]
    except Exception:
        say(type="error", msg="no request")
        continue
    say(type="chunk", request_id=request_id, sample_rate=24000, sound="AAAAAA==")
    say(type="done", request_id=request_id)
"""


def test_a_failure_that_the_empty_text_shows_is_not_told(tmp_path: Path) -> None:
    """The host's own voice says 16,000 zeros and `done` to an empty text."""
    child = tmp_path / "hides.py"
    child.write_text(SOUNDLESS.replace('sound="AAAAAA=="', "audio_b64=SOUND").replace("import json, sys", HIDES))
    judged = examine(tmp_path, "tts", child=child)
    assert (judged["empty_text"].state, judged["failure_is_told"].state) == (State.BROKEN, State.BROKEN)
    assert judged["chunk_payload"].state is State.KEPT


HIDES = """
import base64, json, sys
SOUND = base64.b64encode(bytes(64_000)).decode("ascii")
"""


STRANGE = """
import json, sys
print(json.dumps({"type": "ready", "device": "cpu"}), flush=True)
sys.stdin.readline()
secret = open(".env").read().partition("=")[2]
print(json.dumps({"type": sys.argv[1], "msg": "\\x1b[2Jno\\nthat " + secret}), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("answer", ["progress", "error"])
def test_an_answer_of_neither_kind_is_told_without_controls_and_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    (tmp_path / "strange.py").write_text(STRANGE, encoding="utf-8")
    (tmp_path / ".env").write_text("LLM_API_KEY=sk-0123456789abcdef", encoding="utf-8")
    command = [sys.executable, str(tmp_path / "strange.py"), answer, "--api-key", "hunter22"]
    assert main(["sidecar", "conform", "--cwd", str(tmp_path), "--", *command]) == 3
    told = capsys.readouterr().err
    assert "answered neither as a recogniser nor as a voice" in told and "no that ***" in told
    assert "\x1b" not in told and "sk-01" not in told
    options = ["--cwd", str(tmp_path), "--kind", "asr", "--json", "--deadline", "1"]
    assert main(["sidecar", "conform", *options, "--", *command]) == 1
    told = capsys.readouterr().out
    assert '"***"' in told and "hunter22" not in told and "sk-01" not in told


def test_one_loss_hides_none_of_the_other_rules(tmp_path: Path) -> None:
    mortal = tmp_path / "mortal.py"
    mortal.write_text(
        "import pathlib, sys, runpy\n"
        "mark = pathlib.Path(__file__).with_suffix('.mark')\n"
        "fault = '' if mark.exists() else 'second_request'\n"
        "mark.touch()\n"
        f"sys.argv = [{str(CHILD)!r}, 'asr', fault]\n"
        f"runpy.run_path({str(CHILD)!r}, run_name='__main__')\n",
        encoding="utf-8",
    )
    judged = examine(tmp_path, "asr", "", mortal)
    assert [one.rule for one in judged.values() if one.state is not State.KEPT] == ["keeps_running"]


def test_one_that_cannot_be_started_again_has_broken_the_rule_that_ended_it(tmp_path: Path) -> None:
    once = tmp_path / "once.py"
    once.write_text(
        "import pathlib, sys, runpy\n"
        "mark = pathlib.Path(__file__).with_suffix('.mark')\n"
        "if mark.exists(): sys.exit(5)\n"
        "mark.touch()\n"
        f"sys.argv = [{str(CHILD)!r}, 'asr', 'second_request']\n"
        f"runpy.run_path({str(CHILD)!r}, run_name='__main__')\n",
        encoding="utf-8",
    )
    judged = examine(tmp_path, "asr", "", once)
    assert judged["valid_request"].state is State.KEPT
    assert judged["malformed_json"].state is State.BROKEN
