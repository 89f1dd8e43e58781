"""Judges what surrounds the packages: search path, numpy, other imports, the loaded HIP runtime."""

from pathlib import PurePath, PureWindowsPath
from typing import Any

from rocm_wizard.machine.profiles import Profile
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.versions_import import import_failure


def report_paths(context: StageContext, message: dict[str, Any]) -> None:
    """What could be found before the environment's own packages."""
    lists = {name: _texts(message.get(name)) for name in ("outside", "shadowing", "user_site", "pth")}
    private = ["outside", "shadowing", "user_site"]
    with context.check("search_path"):
        if lists["shadowing"] or lists["user_site"]:
            places = [*lists["shadowing"], *lists["user_site"]]
            context.finding("versions.path_shadows", Outcome.WARNING, [*private, "places"], places=places, **lists)
        elif message.get("system_site"):
            context.finding("versions.system_site", Outcome.WARNING, private, **lists)
        else:
            context.finding("versions.paths", Outcome.PASSED, private, outside_count=len(lists["outside"]), **lists)


def report_numpy(context: StageContext, profile: Profile, message: dict[str, Any]) -> None:
    """torch and numpy must read each other's memory."""
    with context.check("numpy"):
        if message["type"] == "numpy" and message.get("right") is True:
            context.finding("versions.numpy", Outcome.PASSED, version=message.get("version"))
        else:
            detail = f"{message.get('error')}: {message.get('message')}" if message.get("error") else None
            facts = {"version": message.get("version"), "detail": detail, "profile": profile.id}
            context.finding("versions.numpy_broken", Outcome.FAILED, ["detail"], **facts)


def report_module(context: StageContext, profile: Profile, message: dict[str, Any]) -> None:
    """A package beside torch that could or could not be imported."""
    name = str(message.get("name"))
    with context.check("imports"):
        if message["type"] == "module":
            context.finding("versions.module", Outcome.PASSED, package=name, seconds=message.get("seconds"))
            return
        _ending, facts = import_failure(message)
        context.finding("versions.module_failed", Outcome.FAILED, ["detail"], package=name, profile=profile.id, **facts)


def report_hip_runtime(context: StageContext, message: dict[str, Any], prefix: str) -> None:
    """Which copy of the HIP runtime torch is talking to: the environment's, or the driver's or an SDK's."""
    loaded, on_path = _texts(message.get("loaded")), _texts(message.get("on_path"))
    elsewhere = [path for path in loaded if not _inside(path, prefix)]
    facts: dict[str, Any] = {"loaded": loaded, "elsewhere": elsewhere, "on_path": on_path}
    with context.check("hip_runtime"):
        if not loaded:
            context.finding("versions.hip_runtime_unknown", Outcome.WARNING, ["on_path"], **facts)
        elif elsewhere:
            context.finding("versions.hip_runtime_elsewhere", Outcome.WARNING, list(facts), **facts)
        else:
            context.finding("versions.hip_runtime", Outcome.PASSED, list(facts), **facts)


def _inside(path: str, prefix: str) -> bool:
    """Whether a path of either system lies below the environment; Windows' names have no case."""
    windows = "\\" in path or path[1:2] == ":"
    kind = PureWindowsPath if windows else PurePath
    return bool(prefix) and kind(path).is_relative_to(kind(prefix))


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
