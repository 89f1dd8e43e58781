"""`rocm-wizard bench tts|asr`: what the networks cost on a device, before there is any model file."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm_wizard.qualification.exit_codes import ExitCode

if TYPE_CHECKING:
    from rocm_wizard.machine.profiles import Profile
    from rocm_wizard.runner.spec import ChildSpec

_EXIT_CODES = """\
exit codes: 0 measured to the end; 1 the child crashed, hung or failed; 2 wrong command line;
3 the device or a package is not there"""


def add_bench_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Adds `bench` to the program's command line."""
    bench = commands.add_parser(
        "bench",
        help="measure what the networks cost here, full-size with random weights, without any model file",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kept = argparse.SUPPRESS  # an option given before the command must not be undone by a default here
    add = bench.add_argument
    add("kind", choices=("tts", "asr"), help="GPT-SoVITS v3, or Qwen3-ASR-0.6B")
    add("--device", help="cpu, cuda:0 (HIP too), mps (default: the profile's)")
    add("--seed", type=int, default=1, help="of the random weights (default 1)")
    add("--rounds", type=_rounds, help="warm repetitions (default 5; with --quick 1)")
    add("--quick", action="store_true", help="fewer lengths, one warm repetition")
    add("--tiny", action="store_true", help=argparse.SUPPRESS)
    add("--python", type=Path, default=kept, help="target interpreter (default: the checkout's .venv, else this one)")
    add("--checkout", type=Path, default=kept, help="root folder of the checkout whose interpreter is used")
    add("--profile", default=kept, help="profile whose device is used (default: that of the installed torch)")
    add("--json", action="store_true", help="one JSON document on stdout")
    add("--lang", choices=("en", "zh"), default=kept, help="language of the output")
    bench.set_defaults(command="bench", handler=bench_command)


def _rounds(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 100:
        raise argparse.ArgumentTypeError("takes 1 to 100")
    return value


def bench_command(arguments: argparse.Namespace) -> int:
    """Runs the child and tells what it measures, as it measures; gives the exit code."""
    import json
    import tempfile

    from rocm_wizard.line.bench_run import BenchRun
    from rocm_wizard.line.console import write_line
    from rocm_wizard.report.catalogue import Catalogue

    catalogue = Catalogue(arguments.lang)
    tell = partial(write_line, stream=sys.stderr if arguments.json else sys.stdout)
    with tempfile.TemporaryDirectory(prefix="rocm-wizard-bench-", ignore_cleanup_errors=True) as folder:
        bench = BenchRun(catalogue, tell)
        code = bench.run(_spec(arguments, Path(folder)), Path(folder))
    if arguments.json:
        text = json.dumps(bench.document(arguments.kind, code), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    return int(code)


def _spec(arguments: argparse.Namespace, folder: Path) -> "ChildSpec":
    from rocm_wizard.machine.profiles import load_profiles
    from rocm_wizard.machine.target import find_target
    from rocm_wizard.runner.spec import ChildSpec
    from rocm_wizard.sidecar.launch import tts_environment

    python = find_target(arguments.checkout, arguments.python).python
    profile = _profile(arguments, python)
    device = arguments.device or (profile.device if profile is not None else "auto")
    argv = [str(python), "-u", "-m", f"rocm_wizard.speech.bench_{arguments.kind}", "--device", device]
    argv += ["--seed", str(arguments.seed)]
    argv += ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    argv += [f"--{name}" for name in ("quick", "tiny") if getattr(arguments, name)]
    environment = tts_environment(profile or load_profiles().profiles[0])  # of these only the common part matters
    return ChildSpec(f"bench {arguments.kind}", argv, folder, environment)


def _profile(arguments: argparse.Namespace, python: Path) -> "Profile | None":
    """The named profile, else that of the torch which the interpreter's environment holds.

    Raises:
        SystemExit: there is no profile of that name.
    """
    from rocm_wizard.machine.facts import platform_tag
    from rocm_wizard.machine.profiles import load_profiles
    from rocm_wizard.machine.target import installed_torch, profile_of_torch

    book = load_profiles()
    if arguments.profile:
        if arguments.profile not in {profile.id for profile in book.profiles}:
            print(f"error: there is no profile {arguments.profile!r}", file=sys.stderr)
            print(f"hint: {', '.join(profile.id for profile in book.profiles)}", file=sys.stderr)
            raise SystemExit(int(ExitCode.USAGE))
        return book.get(arguments.profile)
    version = installed_torch(python)
    return None if version is None else profile_of_torch(version, book, platform_tag())
