"""What the command line understands. Nothing here starts anything."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from rocm_wizard import __version__
from rocm_wizard.line.bench import add_bench_command
from rocm_wizard.line.env_commands import add_env_command
from rocm_wizard.qualification.exit_codes import ExitCode

LANGUAGES = ("en", "zh")
LEVELS = ("quick", "standard", "soak")
STAGES = ("profile", "versions", "compute", "env_merge", "asr_smoke", "tts_smoke")
ASR_ENGINES = ("embedded", "qwen3_asr", "checkout")
TTS_ENGINES = ("embedded", "gpt_sovits", "checkout")
STAGE_COMMANDS: Mapping[str, tuple[str, str]] = {
    "profile": ("profile", "which profile fits this computer, and what stands against it"),
    "versions": ("versions", "what the target interpreter holds, against the profile"),
    "compute": ("compute", "whether the device really computes"),
    "asr": ("asr_smoke", "speech recognition with a known recording"),
    "tts": ("tts_smoke", "speech synthesis in blocks, played while it is made"),
}
"""Commands that run one step (after the profile step, which chooses what is tested), with their help."""

_DEFAULTS = {
    "lang": "en",
    "chunk_seconds": 0.8,
    "level": "standard",
    "repeat": 2,
    "minutes": 15.0,
}


class Parser(argparse.ArgumentParser):
    """Errors in two lines and with our exit code."""

    def error(self, message: str) -> NoReturn:
        """See `argparse.ArgumentParser.error`."""
        print(f"error: {message}\nhint: {self.prog} --help lists every option", file=sys.stderr)
        raise SystemExit(int(ExitCode.USAGE))


def build_parser() -> Parser:
    """The parser; `command` names what was asked for (`wizard`: nothing), or `handler` is the function to call."""
    parser = Parser(prog="rocm-wizard", description="Can this computer run local voice on its AMD GPU? With evidence.")
    parser.add_argument("--version", action="version", version=f"rocm-wizard {__version__}")
    _add_run_options(parser)
    parser.set_defaults(command="wizard", json=False, stages=None, **_DEFAULTS)
    commands = parser.add_subparsers(metavar="COMMAND")
    # SUPPRESS: an option before the command must not be undone by the command's own default.
    run = commands.add_parser(
        "run", help="run all steps in line mode, or as events with --json", argument_default=argparse.SUPPRESS
    )
    _add_run_options(run)
    run.add_argument("--json", action="store_true", help="events as JSON Lines on stdout")
    run.add_argument("--stages", type=_stages, help=f"only these steps, comma separated: {','.join(STAGES)}")
    run.set_defaults(command="run")
    for name, (stage, about) in STAGE_COMMANDS.items():
        command = commands.add_parser(name, help=about, argument_default=argparse.SUPPRESS)
        _add_run_options(command, name)
        command.add_argument("--json", action="store_true", help="one JSON document on stdout, at the end")
        command.set_defaults(command=name, stages=list(dict.fromkeys(("profile", stage))))
    add_env_command(commands)
    add_bench_command(commands)
    _add_reading(commands)
    return parser


def _add_reading(commands: "argparse._SubParsersAction[Parser]") -> None:
    explain = commands.add_parser("explain", help="tell a finding or a known issue in full, without a run")
    explain.add_argument("id", nargs="?", metavar="ID", help="a finding or a known issue (default: list them all)")
    explain.set_defaults(command="explain")
    report = commands.add_parser("report", help="make the report files again from a journal")
    report.add_argument("journal", type=Path)
    report.add_argument("--output", type=Path, help="folder for the files (default: beside the journal)")
    report.set_defaults(command="report")
    replay = commands.add_parser("replay", help="tell a journal again in line mode, marked REPLAY")
    replay.add_argument("journal", type=Path)
    replay.set_defaults(command="replay")
    for reading in (explain, report, replay):
        reading.add_argument("--lang", choices=LANGUAGES, default=argparse.SUPPRESS, help="language (default en)")
    sidecar = commands.add_parser(
        "sidecar", help="be one of our sidecars (JSON Lines on stdin and stdout), or examine any with conform"
    )
    sidecar.add_argument("kind", choices=("asr", "tts", "conform"))
    sidecar.add_argument("arguments", nargs=argparse.REMAINDER)
    sidecar.set_defaults(command="sidecar")


def _add_run_options(parser: argparse.ArgumentParser, command: str = "") -> None:
    add = parser.add_argument
    add("--checkout", type=Path, help="root folder of the checkout to qualify")
    add("--python", type=Path, help="target interpreter (default: the checkout's .venv, else this one)")
    add("--profile", help="profile to test (default: ask, or the recommended one)")
    add("--env-file", type=Path, help=".env file to merge into (default: the checkout's, else one of the run's own)")
    add("--set", action="append", type=_setting, metavar="KEY=VALUE", help="a value for the .env file; may be repeated")
    add("--yes", action="store_true", help="write the .env file without asking")
    add("--level", choices=LEVELS, help="how much the compute step tries (default standard)")
    add("--graphs", action="store_true", help="also try HIP or CUDA graph capture in the compute step")
    _add_speech_options(parser, command)
    add("--runs-dir", type=Path, help="folder that takes the run's journal, logs, sound and report")
    add("--lang", choices=LANGUAGES, help="language of the program (default en)")
    add("--plain", action="store_true", help="line mode: plain text, no screen")
    add("--no-color", action="store_true", help="no colours")
    add("--ascii", action="store_true", help="ASCII characters only")


def _add_speech_options(parser: argparse.ArgumentParser, command: str) -> None:
    add = parser.add_argument
    # A command for one side needs no prefix to tell whose language is meant.
    asr_language, tts_language = (
        (f"--{kind}-language", *(("--language",) if command == kind else ())) for kind in ("asr", "tts")
    )
    add("--repeat", type=_count, help="how often the recording and the text are tried (default 2)")
    add("--asr-engine", choices=ASR_ENGINES, help="recogniser (default: what --asr-model and --checkout say)")
    add("--asr-model", type=Path, metavar="FOLDER", help="Qwen3-ASR model folder")
    add("--audio", type=Path, help="recording for the recogniser, at most 30 s (default: the bundled ones)")
    add("--transcript", help="what is said in --audio")
    add(
        *asr_language,
        metavar="NAME",
        help="name or ISO code; auto: detect; without --audio it chooses the bundled recording",
    )
    add("--tts-engine", choices=TTS_ENGINES, help="voice (default: what --gpt-model and --checkout say)")
    add("--gpt-model", type=Path, metavar="FILE", help="GPT-SoVITS: the .ckpt file")
    add("--sovits-model", type=Path, metavar="FILE", help="GPT-SoVITS: the .pth file")
    add("--pretrained", type=Path, metavar="FOLDER", help="GPT-SoVITS: folder with BigVGAN, HuBERT, RoBERTa, s2Gv3.pth")
    add("--nltk-data", type=Path, metavar="FOLDER", help="GPT-SoVITS: NLTK's data for English")
    add("--reference", type=Path, metavar="FILE", help="GPT-SoVITS: recording of the voice, 3 to 10 s")
    add("--reference-text", metavar="TEXT", help="what is said in --reference")
    add("--text", help="text to speak")
    add(
        *tts_language,
        choices=("en", "ja", "zh"),
        help="language of --text (default: what the checkout's .env file says, ja where it is silent; en without one)",
    )
    add("--chunk-seconds", type=_positive, help="length of a streamed block (default 0.8)")
    add("--output", type=Path, metavar="WAV", help="keep the speech here; an existing file is never overwritten")
    add("--compare-concurrency", action="store_true", help="measure Standard x1 against Parallel x2")
    add("--minutes", type=_minutes, help="length of --level soak (default 15)")
    add("--acceptance", action="store_true", help="measure speed setting by setting, after the smokes")
    add("--output-device", metavar="NAME", help="whole name of the sound output (default: the system's)")
    add("--no-play", dest="play", action="store_false", help="do not play the speech")


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError("takes 1 to 1000")
    return value


def _minutes(text: str) -> float:
    value = float(text)
    if not 0.1 <= value <= 24 * 60:
        raise argparse.ArgumentTypeError("takes 0.1 to 1440 minutes")
    return value


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"takes KEY=VALUE, not {text!r}")
    return key, value


def _positive(text: str) -> float:
    value = float(text)
    if not 0.05 <= value <= 30:
        raise argparse.ArgumentTypeError("takes 0.05 to 30 seconds")
    return value


def _stages(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in STAGES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"no such step: {', '.join(unknown) or '(none named)'}")
    return ["profile", *names]  # every later step needs the chosen profile
