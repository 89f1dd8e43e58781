"""What around the GPU breaks a run on Windows: its own guards, missing runtimes, paths, stray variables."""

from pathlib import Path

from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.knowledge import Limits, Variables
from rocm_wizard.machine.profiles import Profile
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext


def report_windows(context: StageContext, machine: MachineFacts, profile: Profile, limits: Limits) -> None:
    """The Visual C++ runtime for every torch; Smart App Control for ROCm's unsigned libraries."""
    windows = machine.windows
    if windows is None:
        return
    facts = {"found": windows.vc_runtime, "wanted": limits.vc_runtime}
    if "vc_runtime" in machine.unread:
        context.finding("profile.vc_runtime_unread", Outcome.WARNING, reason=machine.unread["vc_runtime"], **facts)
    elif windows.vc_runtime is None:
        context.finding("profile.vc_runtime_missing", Outcome.WARNING, **facts)
    elif _numbers(windows.vc_runtime) < _numbers(limits.vc_runtime):
        context.finding("profile.vc_runtime_old", Outcome.WARNING, **facts)
    else:
        context.finding("profile.vc_runtime", Outcome.PASSED, **facts)
    if profile.device_kind == "hip" and windows.smart_app_control == "on":
        context.finding("profile.smart_app_control", Outcome.WARNING)
    if profile.device_kind == "hip" and windows.smart_app_control == "evaluation":
        context.finding("profile.smart_app_control_evaluation", Outcome.PASSED)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def report_paths(context: StageContext, machine: MachineFacts, python: Path, limits: Limits) -> None:
    """Folders that MIOpen and the run-time compiler write to or are loaded from."""
    environment = str(python.parent.parent)
    paths = {**machine.paths, ".venv": environment}
    bad = False
    for id, is_bad in (
        ("profile.path_not_ascii", lambda path: not path.isascii()),
        ("profile.path_blank", lambda path: " " in path),
    ):
        named = {name: path for name, path in paths.items() if is_bad(path)}
        if named:
            bad = True
            context.finding(id, Outcome.WARNING, ["paths"], which=list(named), paths=list(named.values()))
    windows = machine.windows
    length = len(environment)
    if windows is not None and windows.long_paths is False and length + limits.longest_inside > limits.max_path:
        bad = True
        facts = {"length": length, "most": limits.max_path - limits.longest_inside, "path": environment}
        context.finding("profile.path_long", Outcome.WARNING, ["path"], **facts)
    if not bad:
        context.finding("profile.paths", Outcome.PASSED, which=list(paths))


def report_variables(context: StageContext, machine: MachineFacts, profile: Profile, variables: Variables) -> None:
    """Variables that children inherit. Only a ROCm profile is judged by them."""
    kinds = variables.by_kind(machine.environment)
    noted = kinds.pop("noted", [])
    if profile.device_kind != "hip":
        noted, kinds = [*noted, *(name for names in kinds.values() for name in names)], {}
    for kind, names in sorted(kinds.items()):
        values = [f"{name}={machine.environment[name]}" for name in names]
        facts = {"names": names, "values": values, "drives": [f"Env:{name}" for name in names]}
        context.finding(f"profile.variable_{kind}", Outcome.WARNING, ["values"], **facts)
    if noted:
        values = [f"{name}={machine.environment[name]}" for name in sorted(noted)]
        context.finding("profile.variables_noted", Outcome.PASSED, ["values"], values=values)
