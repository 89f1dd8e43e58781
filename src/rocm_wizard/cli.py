"""The command line: parses, decides on the face, and hands over."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rocm_wizard.arguments import STAGE_COMMANDS, build_parser
from rocm_wizard.qualification.exit_codes import ExitCode

if TYPE_CHECKING:
    from rocm_wizard.assembly import Run

type Handler = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str]) -> int:
    """Runs the program; gives its exit code."""
    arguments = build_parser().parse_args(argv)
    try:
        handler: Handler = getattr(arguments, "handler", None) or _HANDLERS[arguments.command]
        return int(handler(arguments))
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: {error.strerror or error}{where}", file=sys.stderr)
        print("hint: --runs-dir names another folder for the run's files", file=sys.stderr)
        return int(ExitCode.USAGE)


def _prepare(arguments: argparse.Namespace) -> "Run":
    from rocm_wizard.assembly import prepare
    from rocm_wizard.stages.session import Options, TtsModelPaths

    options = Options(
        profile=arguments.profile,
        env_file=arguments.env_file,
        settings=dict(arguments.set or ()),
        yes=arguments.yes,
        level=arguments.level,
        graphs=arguments.graphs,
        repeat=arguments.repeat,
        asr_engine=arguments.asr_engine,
        asr_model=arguments.asr_model,
        audio=arguments.audio,
        transcript=arguments.transcript,
        asr_language=arguments.asr_language,
        tts_engine=arguments.tts_engine,
        tts_models=TtsModelPaths(
            arguments.gpt_model, arguments.sovits_model, arguments.pretrained, arguments.nltk_data
        ),
        text=arguments.text,
        tts_language=arguments.tts_language,
        reference=arguments.reference,
        reference_text=arguments.reference_text,
        chunk_seconds=arguments.chunk_seconds,
        output=arguments.output,
        compare_concurrency=arguments.compare_concurrency,
        minutes=arguments.minutes,
        acceptance=arguments.acceptance,
        play=arguments.play,
        output_device=arguments.output_device,
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

    return int(run_wizard(lambda: _prepare(arguments), ascii_only=arguments.ascii))


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
    if arguments.kind == "conform":
        from rocm_wizard.line.conform import conform

        return int(conform(arguments.arguments, getattr(arguments, "lang", "en")))
    import runpy

    module = f"rocm_wizard.speech.{arguments.kind}"
    sys.argv = [module, *arguments.arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return int(ExitCode.QUALIFIED)


def _stage_command(arguments: argparse.Namespace) -> int:
    if not arguments.json:
        return _run(arguments)
    from rocm_wizard.line.commands import run_as_document

    return int(run_as_document(arguments.command, _prepare(arguments)))


def _explain(arguments: argparse.Namespace) -> int:
    from rocm_wizard.line.commands import explain_id

    return int(explain_id(arguments.id, arguments.lang))


_HANDLERS: Mapping[str, Handler] = {
    "wizard": _wizard,
    "run": _run,
    "explain": _explain,
    "report": _report,
    "replay": _replay,
    "sidecar": _sidecar,
    **dict.fromkeys(STAGE_COMMANDS, _stage_command),
}
