"""`rocm-wizard env plan|apply|undo|check`: the `.env` step without the wizard around it."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rocm_wizard.qualification.exit_codes import ExitCode

if TYPE_CHECKING:
    from rocm_wizard.line.env_report import EnvReport
    from rocm_wizard.qualification.finding import Fact

_EXIT_CODES = """\
exit codes: 0 clean, or applied; 1 something in the file breaks the host; 2 wrong command line;
3 could not be checked, or nobody there to agree; 4 declined"""


def add_env_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Adds `env` and its four commands to the program's command line."""
    env = commands.add_parser(
        "env",
        help="plan, apply, undo and check the settings in a .env",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = env.add_subparsers(metavar="plan|apply|undo|check", dest="env_command", required=True)
    plan = parts.add_parser("plan", help="show what would change, and why")
    apply = parts.add_parser("apply", help="change the file; asks first")
    undo = parts.add_parser("undo", help="take the last change back")
    check = parts.add_parser("check", help="judge every voice key in the file")
    kept = argparse.SUPPRESS  # an option given before the command must not be undone by a default here
    for part, handler in ((plan, _plan), (apply, _apply), (undo, _undo), (check, _check)):
        part.add_argument("--file", type=Path, help="the .env (default: the checkout's, else ./.env)")
        part.add_argument("--checkout", type=Path, default=kept, help="root folder of the host, where paths count from")
        part.add_argument("--json", action="store_true", help="one JSON document on stdout")
        part.add_argument("--lang", choices=("en", "zh"), default=kept, help="language of the output")
        part.set_defaults(handler=handler)
    for part in (plan, apply):
        source = part.add_mutually_exclusive_group()
        source.add_argument(
            "--profile", default=kept, help="merge this profile's settings (default: that of the checkout's torch)"
        )
        source.add_argument("--template", type=Path, help="merge the settings of this file")
        part.add_argument("--set", action="append", default=[], metavar="K=V", help="set a key; may be repeated")
    for part in (apply, undo):
        part.add_argument("--yes", action="store_true", default=kept, help="do not ask")


def _plan(arguments: argparse.Namespace) -> int:
    return _merge(arguments, write=False)


def _apply(arguments: argparse.Namespace) -> int:
    return _merge(arguments, write=True)


def _merge(arguments: argparse.Namespace, *, write: bool) -> int:
    from rocm_wizard.envfile import EnvFileError
    from rocm_wizard.line.env_report import EnvReport
    from rocm_wizard.machine.target import find_target
    from rocm_wizard.stages.env_merge import receipts_folder
    from rocm_wizard.stages.env_merging import MergeRequest, merge

    path, checkout = _file(arguments), _checkout(arguments)
    named = _named(arguments)
    report = EnvReport(arguments.env_command, path, arguments.lang, as_json=arguments.json)
    request = MergeRequest(
        path,
        _wanted(arguments, named),
        named,
        checkout=checkout,
        python=find_target(checkout, None).python if checkout else None,
        receipts=receipts_folder(),
        consent=partial(_consent, arguments) if write else None,
    )
    try:
        report.merged(merge(report.context, request))
    except EnvFileError as error:
        if error.code in ("bad_key", "bad_value"):
            _usage(error.message)
        report.failed(error)
    return int(report.end())


def _consent(arguments: argparse.Namespace, context: Any, path: Path) -> bool:
    from rocm_wizard.qualification.outcome import Outcome
    from rocm_wizard.stages.env_merge import ask_consent

    if arguments.yes:
        context.finding("env.consent_by_option", Outcome.PASSED)
        return True
    answer = ask_consent(context, path)
    if answer == "nobody":
        facts = {"file": str(path), "command": _command(arguments)}
        context.finding("env.needs_yes", Outcome.COULD_NOT_CHECK, ["file", "command"], **facts)
    return answer == "apply"


def _undo(arguments: argparse.Namespace) -> int:
    from rocm_wizard.envfile import EnvFileError, drop_receipt, find_target, newest_receipt, undo_write
    from rocm_wizard.line.env_report import EnvReport
    from rocm_wizard.qualification.outcome import Outcome
    from rocm_wizard.stages.env_merge import receipts_folder

    path, folder = _file(arguments), receipts_folder()
    report = EnvReport(arguments.env_command, path, arguments.lang, as_json=arguments.json)
    with report.context.check("undo"):
        try:
            target = find_target(path)
            receipt = newest_receipt(folder, target)
            if receipt is None:
                method = _undo_unguarded(arguments, report, path, target)
            else:
                method = undo_write(receipt)
                drop_receipt(folder, target)
            if method is not None:
                facts = {"file": str(path), "method": str(method)}
                report.context.finding("env.undone", Outcome.PASSED, ["file"], **facts)
        except EnvFileError as error:
            report.failed(error)
    return int(report.end())


def _undo_unguarded(arguments: argparse.Namespace, report: "EnvReport", path: Path, target: Path) -> Any:
    """Without a receipt nobody knows whether the file was edited since, so a person has to say so."""
    from rocm_wizard.envfile import backups, undo_newest
    from rocm_wizard.qualification.outcome import Outcome
    from rocm_wizard.qualification.stage import Question

    found = backups(target) if target.parent.is_dir() else []
    if found and not arguments.yes:
        facts: dict[str, Fact] = {"file": str(path), "backup": found[-1].name}
        answer = report.context.ask(Question("env.undo", ("restore", "decline"), "nobody", facts)).option
        if answer == "nobody":
            facts["command"] = _command(arguments)
            report.context.finding("env.undo_unguarded", Outcome.COULD_NOT_CHECK, ["file", "command"], **facts)
            return None
        if answer == "decline":
            report.context.finding("env.undo_declined", Outcome.CANCELLED, ["file"], **facts)
            return None
    return undo_newest(path, written=None)


def _check(arguments: argparse.Namespace) -> int:
    from rocm_wizard.envfile import EnvFileError
    from rocm_wizard.line.env_report import EnvReport
    from rocm_wizard.stages.env_checking import check_file

    path = _file(arguments)
    report = EnvReport(arguments.env_command, path, arguments.lang, as_json=arguments.json)
    try:
        check_file(report.context, path, _checkout(arguments) or path.parent)
    except EnvFileError as error:
        report.failed(error)
    return int(report.end())


def _file(arguments: argparse.Namespace) -> Path:
    path: Path = arguments.file or (arguments.checkout or Path()) / ".env"
    return path.absolute()


def _checkout(arguments: argparse.Namespace) -> Path | None:
    if arguments.checkout is None:
        return None
    if not arguments.checkout.is_dir():
        _usage(f"--checkout: there is no folder {arguments.checkout}")
    return arguments.checkout.absolute()


def _named(arguments: argparse.Namespace) -> dict[str, str]:
    from rocm_wizard.envfile import EnvFileError, check_key, check_value

    named: dict[str, str] = {}
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals:
            _usage(f"--set takes KEY=VALUE, and {key} has no =")
        try:
            check_key(Path(), key.strip())
            check_value(Path(), key.strip(), value)
        except EnvFileError as error:
            _usage(f"--set: {error.message}")
        named[key.strip()] = value
    return named


def _wanted(arguments: argparse.Namespace, named: dict[str, str]) -> dict[str, str]:
    """The template's values; none at all where only `--set` was given."""
    from rocm_wizard.assets import asset
    from rocm_wizard.envfile import EnvFileError
    from rocm_wizard.stages.env_template import template_values

    path = arguments.template or _template_of_profile(arguments, asset)
    if path is None:
        if not named:
            _usage("what should be merged? Name --profile, --template or --set K=V, or a --checkout that holds torch")
        return {}
    try:
        return template_values(path)
    except OSError as error:
        _usage(f"--template: {path}: {error.strerror}")
    except EnvFileError as error:
        _usage(f"--template: {error}")


def _template_of_profile(arguments: argparse.Namespace, asset: Callable[[str], Path]) -> Path | None:
    from rocm_wizard.machine.facts import platform_tag
    from rocm_wizard.machine.profiles import load_profiles
    from rocm_wizard.machine.target import find_target, installed_torch, profile_of_torch

    book = load_profiles()
    if arguments.profile:
        profile = book.get(arguments.profile)
        if profile is None:
            _usage(f"no profile {arguments.profile}; there are {', '.join(one.id for one in book.profiles)}")
        return asset(profile.env_template)
    if arguments.checkout is None or arguments.set:
        return None
    version = installed_torch(find_target(arguments.checkout, None).python)
    profile = profile_of_torch(version, book, platform_tag()) if version else None
    return asset(profile.env_template) if profile else None


def _command(arguments: argparse.Namespace) -> str:
    """The same command, allowed beforehand. A secret given by `--set` is not printed."""
    from rocm_wizard.envfile import mask

    words = ["rocm-wizard", "env", arguments.env_command]
    for option in ("file", "checkout", "profile", "template"):
        if (value := getattr(arguments, option, None)) is not None:
            words += [f"--{option}", str(value)]
    for text in getattr(arguments, "set", None) or ():
        key, _, value = text.partition("=")
        words += ["--set", f"{key}={mask(key, value)}"]
    return _joined([*words, "--yes"])


def _joined(words: Sequence[str]) -> str:
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)


def _usage(message: str) -> NoReturn:
    print(f"error: {message}\nhint: rocm-wizard env --help lists the options", file=sys.stderr)
    raise SystemExit(int(ExitCode.USAGE))
