"""The command line: parses, decides on the face, and hands over."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rocm_wizard import __version__
from rocm_wizard.qualification.exit_codes import ExitCode

if TYPE_CHECKING:
    from rocm_wizard.assembly import Run

_LANGUAGES = ("en", "zh")
_STAGES = ("profile", "versions", "compute", "env_merge", "asr_smoke", "tts_smoke")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"error: {message}\nhint: {self.prog} --help lists every option", file=sys.stderr)
        raise SystemExit(int(ExitCode.USAGE))


def main(argv: Sequence[str]) -> int:
    """Runs the program; gives its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.handler(arguments))
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror or error}{where}", file=sys.stderr)
        print("hint: --runs-dir names another folder for the run's files", file=sys.stderr)
        return int(ExitCode.USAGE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="rocm-wizard", description="Can this computer run local voice on its AMD GPU? With evidence.")
    parser.add_argument("--version", action="version", version=f"rocm-wizard {__version__}")
    _add_run_options(parser)
    parser.set_defaults(handler=_wizard, json=False, stages=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    run = commands.add_parser("run", help="run all steps in line mode, or as events with --json")
    _add_run_options(run)
    run.add_argument("--json", action="store_true", help="events as JSON Lines on stdout")
    run.add_argument("--stages", type=_stages, help=f"only these steps, comma separated: {','.join(_STAGES)}")
    run.set_defaults(handler=_run)
    report = commands.add_parser("report", help="make the report files again from a journal")
    report.add_argument("journal", type=Path)
    report.add_argument("--output", type=Path, help="folder for the files (default: beside the journal)")
    report.add_argument("--lang", choices=_LANGUAGES, default="en")
    report.set_defaults(handler=_report)
    replay = commands.add_parser("replay", help="tell a journal again in line mode, marked REPLAY")
    replay.add_argument("journal", type=Path)
    replay.add_argument("--lang", choices=_LANGUAGES, default="en")
    replay.set_defaults(handler=_replay)
    sidecar = commands.add_parser("sidecar", help="be one of our sidecars (JSON Lines on stdin and stdout)")
    sidecar.add_argument("kind", choices=("asr", "tts"))
    sidecar.add_argument("arguments", nargs=argparse.REMAINDER)
    sidecar.set_defaults(handler=_sidecar)
    return parser


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--checkout", type=Path, help="root folder of the checkout to qualify")
    add("--python", type=Path, help="target interpreter (default: the checkout's .venv, else this one)")
    add("--profile", help="profile to test (default: ask, or the recommended one)")
    add("--env-file", type=Path, help=".env file to merge into (default: the checkout's, else one of the run's own)")
    add("--yes", action="store_true", help="write the .env file without asking")
    add("--audio", type=Path, help="recording for the recogniser, at most 30 s (default: the bundled one)")
    add("--transcript", help="what is said in --audio")
    add("--asr-language", metavar="NAME", help="language of --audio, for instance English")
    add("--text", help="text to speak")
    add("--tts-language", choices=("en", "ja"), default="en", help="language of --text")
    add("--chunk-seconds", type=_positive, default=0.8, help="length of a streamed block (default 0.8)")
    add("--no-play", dest="play", action="store_false", help="do not play the speech")
    add("--runs-dir", type=Path, help="folder that takes the run's journal, logs, sound and report")
    add("--lang", choices=_LANGUAGES, default="en", help="language of the program")
    add("--plain", action="store_true", help="line mode: plain text, no screen")
    add("--no-color", action="store_true", help="no colours")
    add("--ascii", action="store_true", help="ASCII characters only")


def _positive(text: str) -> float:
    value = float(text)
    if not 0.05 <= value <= 30:
        raise argparse.ArgumentTypeError("takes 0.05 to 30 seconds")
    return value


def _stages(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in _STAGES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"no such step: {', '.join(unknown) or '(none named)'}")
    return ["profile", *names]  # every later step needs the chosen profile


def _prepare(arguments: argparse.Namespace) -> "Run":
    from rocm_wizard.assembly import prepare
    from rocm_wizard.stages.session import DEFAULT_TEXT, Options

    options = Options(
        profile=arguments.profile,
        env_file=arguments.env_file,
        yes=arguments.yes,
        audio=arguments.audio,
        transcript=arguments.transcript,
        asr_language=arguments.asr_language,
        text=arguments.text or DEFAULT_TEXT,
        tts_language=arguments.tts_language,
        chunk_seconds=arguments.chunk_seconds,
        play=arguments.play,
    )
    return prepare(
        options,
        language=arguments.lang,
        checkout=arguments.checkout,
        python=arguments.python,
        stages=arguments.stages,
        runs=arguments.runs_dir,
    )


def _wants_screen(arguments: argparse.Namespace) -> bool:
    accessible = os.environ.get("ACCESSIBLE", "").lower() not in ("", "0", "false")
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return terminal and not (arguments.plain or accessible or os.environ.get("CI"))


def _wizard(arguments: argparse.Namespace) -> int:
    if not _wants_screen(arguments):
        return _run(arguments)
    if arguments.no_color:
        os.environ["NO_COLOR"] = "1"
    from rocm_wizard.tui.launch import run_wizard

    return int(run_wizard(_prepare(arguments), ascii_only=arguments.ascii))


def _run(arguments: argparse.Namespace) -> int:
    from rocm_wizard.line.session import run_in_lines

    return int(run_in_lines(_prepare(arguments), as_json=arguments.json, ascii_only=arguments.ascii))


def _report(arguments: argparse.Namespace) -> int:
    from rocm_wizard.line.reading import report_from_journal

    return int(report_from_journal(arguments.journal, arguments.output, arguments.lang))


def _replay(arguments: argparse.Namespace) -> int:
    from rocm_wizard.line.reading import replay_in_lines

    return int(replay_in_lines(arguments.journal, arguments.lang))


def _sidecar(arguments: argparse.Namespace) -> int:
    import runpy

    module = f"rocm_wizard.speech.{arguments.kind}"
    sys.argv = [module, *arguments.arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return int(ExitCode.QUALIFIED)
