"""Drives one bench child: tells each measurement as it comes, then the advice, and what went wrong."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rocm_wizard.line.bench_results import Measured, Results
from rocm_wizard.qualification.events import Event
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.finding import Finding, as_fact
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.widths import pad
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.runner.spec import Child, ChildSpec, ChildTimeout, LineTooLong, StartFailed
from rocm_wizard.sidecar.messages import ProtocolError
from rocm_wizard.sidecar.told import decode_told

SCHEMA = "rocm-wizard/bench@1"
SILENT_SECONDS = 1800.0
"""Longest time between two messages: on a slow CPU one measurement takes minutes."""
_EXIT_GRACE = 20.0
_STDERR_SHOWN = 8
_NAME_WIDTH = 52
_CODES = {
    Outcome.COULD_NOT_CHECK: ExitCode.COULD_NOT_CHECK,
    Outcome.FAILED: ExitCode.FAILED,
    Outcome.CRASHED: ExitCode.FAILED,
}


class BenchRun:
    """One bench from start to end."""

    def __init__(
        self, catalogue: Catalogue, tell: Callable[[str], None], silent_seconds: float = SILENT_SECONDS
    ) -> None:
        self._catalogue = catalogue
        self._tell = tell
        self._silent_seconds = silent_seconds
        self.results = Results()
        self.trouble: Finding | None = None

    def run(self, spec: ChildSpec, folder: Path) -> ExitCode:
        """Starts the child and reads it to its end; `folder` takes its log."""
        runner = RealRunner(_ignore, folder)
        try:
            child = runner.start(spec, "bench", CancelToken())
            self._drive(child)
        except StartFailed as error:
            self._wrong("bench.not_started", Outcome.COULD_NOT_CHECK, program=error.program, reason=error.reason)
        finally:
            runner.stop_all()
        for id, reason in self.results.missing.items():
            self._tell(self._say("missing", name=self._name(id, {}), reason=reason))
        for finding in self.results.advice():
            self._tell_finding(finding)
        if self.trouble is None:
            return ExitCode.QUALIFIED
        self._tell_finding(self.trouble)
        return _CODES[self.trouble.outcome]

    def document(self, kind: str, code: ExitCode) -> dict[str, Any]:
        """Everything as one JSON document."""
        results = self.results
        rows = [
            {"id": one.id, "unit": one.unit, "cold": one.cold, "warm": list(one.warm), **one.facts}
            for one in results.measured.values()
        ]
        return {
            "schema": SCHEMA,
            "command": f"bench {kind}",
            "random_weights": True,
            "quality_judged": False,
            "sentence": self._catalogue.format("bench", "random"),
            "exit_code": int(code),
            "started": dict(results.started),
            "measurements": rows,
            "not_available": results.missing,
            "advice": [self._record(finding) for finding in results.advice()],
            "trouble": None if self.trouble is None else self._record(self.trouble),
        }

    def _record(self, finding: Finding) -> dict[str, Any]:
        words = {"text": self._catalogue.sentence(finding), "hint": self._catalogue.hint(finding)}
        return finding.to_record() | words

    def _drive(self, child: Child) -> None:
        hiding = child.spec.hiding()
        try:
            while (line := child.read(self._silent_seconds)) is not None:
                self._take(decode_told(line.data, hiding))
        except ChildTimeout:
            self._wrong("bench.hung", Outcome.FAILED, seconds=self._silent_seconds)
            child.stop(grace=0.0)
            return
        except (ProtocolError, LineTooLong, KeyError, TypeError, ValueError) as error:
            self._wrong("bench.rubbish", Outcome.FAILED, shown=getattr(error, "shown", repr(error)))
            child.stop(grace=0.0)
            return
        report = child.stop(grace=_EXIT_GRACE)
        if self.trouble is None and (not self.results.done or report.code != 0):
            outcome = Outcome.CRASHED if report.meaning.crashed else Outcome.FAILED
            tail = child.stderr_tail()[-_STDERR_SHOWN:]
            self._wrong("bench.child_ended", outcome, code=report.code, name=str(report.meaning), stderr=tail)

    def _take(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "error":
            text = str(message.get("msg"))
            if text.startswith("LOAD_FAIL: "):
                device = message.get("device")
                self._wrong("bench.no_device", Outcome.COULD_NOT_CHECK, device=device, reason=text[11:])
            else:
                self._wrong("bench.child_failed", Outcome.FAILED, reason=text.removeprefix("BENCH_FAIL: "))
            return
        one = self.results.take(message)
        if message["type"] == "started":
            self._tell_head()
        elif one is not None:
            self._tell(self._row(one))

    def _tell_head(self) -> None:
        started = self.results.started
        self._tell(self._say("random"))
        if started.get("tiny"):
            self._tell(self._say("tiny"))
        self._tell(self._say("device", **started))
        self._tell("")
        self._tell(f"{pad(self._say('quantity'), _NAME_WIDTH)}{self._say('cold'):>12}{self._say('warm'):>12}")

    def _row(self, one: Measured) -> str:
        unit, shown = (1 / 2**20, "MiB") if one.unit == "B" else (1.0, one.unit)
        numbers = (one.cold, one.value if one.warm else None)
        cells = "".join(f"{'' if number is None else f'{number * unit:.2f}':>12}" for number in numbers)
        return f"{pad(self._name(one.id, one.facts), _NAME_WIDTH)}{cells} {shown}".rstrip()

    def _name(self, id: str, facts: Mapping[str, Any]) -> str:
        """`cfm_first_16_step` under the key `cfm_first_step`, its number as a gap."""
        number = re.search(r"_(\d+)", id)
        key = id if number is None else id.replace(number[0], "", 1)
        return self._catalogue.format("bench", "row", key, number=number[1] if number else "", **facts)

    def _say(self, key: str, **facts: Any) -> str:
        return self._catalogue.format("bench", key, **facts)

    def _tell_finding(self, finding: Finding) -> None:
        self._tell("")
        self._tell(self._catalogue.sentence(finding))
        hint = self._catalogue.hint(finding)
        if hint is not None:
            self._tell(f"  {hint}")
        action = self._catalogue.action(finding)
        if action is not None:
            self._tell(f"  {action}")

    def _wrong(self, id: str, outcome: Outcome, **facts: Any) -> None:
        named = {"part": self.results.part} | facts
        self.trouble = Finding(id, outcome, {name: as_fact(value) for name, value in named.items()})


def _ignore(event: Event) -> None:
    del event
