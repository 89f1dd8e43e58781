"""`rocm-wizard sidecar conform -- CMD...`: which rules of the wire a sidecar keeps, for its author."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rocm_wizard.arguments import Parser
from rocm_wizard.line.console import write_line
from rocm_wizard.qualification.events import Event
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.runner.spec import Child, ChildSpec
from rocm_wizard.sidecar.conformance.examine import Examiner, NoStart, kind_of
from rocm_wizard.sidecar.conformance.requests import TEXTS, Voice
from rocm_wizard.sidecar.conformance.rules import Judged, State
from rocm_wizard.stages.checkout_settings import hidden_values

_EXIT_CODES = """\
exit codes: 0 every rule kept; 1 a rule broken; 2 wrong command line; 3 none broken, some could not be checked"""
_READY_SECONDS = 300.0
_ANSWER_SECONDS = 60.0


def conform(arguments: Sequence[str], language: str = "en") -> ExitCode:
    """Examines the command behind `--` and tells what came of each rule, on stdout."""
    parser = _parser()
    given, command = _divided(arguments)
    options = parser.parse_args(given)
    if not command:
        parser.error("name the sidecar's command after --")
    catalogue = Catalogue(options.lang or language)
    spec = ChildSpec("sidecar", command, options.cwd.absolute(), hidden=hidden_values(options.cwd))
    shown = spec.shown_command()
    with _starter(spec) as start:
        try:
            kind = options.kind or kind_of(start, options.ready, options.deadline)
        except NoStart as error:
            print(catalogue.format("conform", "no_kind", reason=str(error)), file=sys.stderr)
            return ExitCode.COULD_NOT_CHECK
        if not options.json:
            write_line(catalogue.format("conform", "started", kind=kind, command=" ".join(shown)))
        judged = _examine(options, kind, start)
    if options.json:
        _print_json(kind, shown, judged, catalogue)
    else:
        _print_lines(judged, catalogue)
    states = {one.state for one in judged}
    if State.BROKEN in states:
        return ExitCode.FAILED
    return ExitCode.COULD_NOT_CHECK if State.COULD_NOT_CHECK in states else ExitCode.QUALIFIED


def _divided(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and the command behind `--`; argparse has eaten the sign where no option stood before it."""
    if arguments and not arguments[0].startswith("-"):
        return [], list(arguments)
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    return list(arguments[:end]), list(arguments[end + 1 :])


def _parser() -> Parser:
    parser = Parser(
        prog="rocm-wizard sidecar conform",
        usage="%(prog)s [options] -- COMMAND...",
        description="Drives a sidecar with valid and invalid requests and judges every rule of docs/wire.md.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--kind", choices=("asr", "tts"), help="what the command is (default: what its first answer shows)")
    add("--json", action="store_true", help="one JSON document on stdout")
    add("--lang", choices=("en", "zh"), help="language of the output")
    add("--deadline", type=_seconds, default=_ANSWER_SECONDS, metavar="S", help="for each message (default 60)")
    add("--ready", type=_seconds, default=_READY_SECONDS, metavar="S", help="from start to ready (default 300)")
    add("--cwd", type=Path, default=Path(), help="where to start it (default: here)")
    add("--language", choices=tuple(TEXTS), default="en", help="what a voice is asked to speak (default en)")
    add("--reference", default="", help="recording for a voice that needs one")
    add("--reference-text", default="", help="what is said in --reference")
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError("takes 0.1 to 3600 seconds")
    return value


@contextmanager
def _starter(spec: ChildSpec) -> Iterator[Callable[[], Child]]:
    """A function that starts the command; at the end nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="rocm-wizard-conform-", ignore_cleanup_errors=True) as folder:
        runner = RealRunner(_ignore, Path(folder))
        try:
            yield lambda: runner.start(spec, "conform", CancelToken())
        finally:
            runner.stop_all()


def _examine(options: argparse.Namespace, kind: str, start: Callable[[], Child]) -> list[Judged]:
    reference = str(Path(options.reference).absolute()) if options.reference else ""
    voice = Voice(options.language, reference, options.reference_text)
    return Examiner(kind, start, options.deadline, options.ready, voice).run()


def _ignore(event: Event) -> None:
    del event


def _print_lines(judged: Sequence[Judged], catalogue: Catalogue) -> None:
    for one in judged:
        state = catalogue.format("conform", "state", str(one.state))
        write_line(f"[{state}] {one.rule}: {catalogue.format('conform', 'rule', one.rule)}")
        if one.detail:
            write_line(f"    {one.detail}")
    counts = _counts(judged)
    write_line(catalogue.format("conform", "summary", **counts))


def _counts(judged: Sequence[Judged]) -> dict[str, int]:
    states = [one.state for one in judged]
    return {
        "rules": len(states),
        "kept": states.count(State.KEPT),
        "broken": states.count(State.BROKEN),
        "unchecked": states.count(State.COULD_NOT_CHECK),
    }


def _print_json(kind: str, command: Sequence[str], judged: Sequence[Judged], catalogue: Catalogue) -> None:
    document = {
        "kind": kind,
        "command": list(command),
        **_counts(judged),
        "results": [
            {
                "rule": one.rule,
                "state": str(one.state),
                "text": catalogue.format("conform", "rule", one.rule),
                "detail": one.detail,
            }
            for one in judged
        ],
    }
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()
