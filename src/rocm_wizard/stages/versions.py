"""Step 2: the target interpreter says what it is and what it holds."""

from pathlib import PurePath
from typing import Any

from rocm_wizard.machine.profiles import Profile
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.probe import Probe
from rocm_wizard.stages.session import Session


class VersionsStage:
    """Compares interpreter, packages and torch build with the profile's."""

    id = "versions"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        profile = self._session.chosen
        request = {"packages": [*profile.packages, *profile.absent], "import": True}
        probe = Probe(context, self._session, self.id, self._session.options.versions_probe, request)
        prefix = ""
        seen: set[str] = set()
        with context.check("interpreter"):
            for message in probe.messages():
                kind = message["type"]
                seen.add(kind)
                if kind == "interpreter":
                    prefix = str(message.get("prefix"))
                    _report_interpreter(context, profile, message)
                elif kind == "packages":
                    _report_packages(context, profile, message.get("versions", {}))
                elif kind == "torch":
                    _report_torch(context, profile, message, prefix)
                elif kind == "import_error":
                    detail = f"{message.get('error')}: {message.get('message')}"
                    context.finding("versions.torch_import_failed", Outcome.FAILED, ["detail"], detail=detail)
        if probe.complete and not {"interpreter", "packages"} <= seen:
            context.finding("versions.silent", Outcome.COULD_NOT_CHECK)


def _report_interpreter(context: StageContext, profile: Profile, message: dict[str, Any]) -> None:
    version, bits = str(message.get("version")), message.get("bits")
    implementation, in_venv = str(message.get("implementation")), bool(message.get("in_venv"))
    right = version.startswith(profile.python + ".") and bits == 64 and implementation == "CPython"
    context.finding(
        "versions.interpreter",
        Outcome.PASSED if right else Outcome.FAILED,
        version=version,
        implementation=implementation,
        bits=bits,
        wanted=profile.python,
    )
    if not in_venv:
        context.finding("versions.no_venv", Outcome.WARNING)


def _report_packages(context: StageContext, profile: Profile, versions: dict[str, Any]) -> None:
    for name, wanted in profile.packages.items():
        with context.check(name):
            _report_package(context, profile, name, wanted, versions.get(name))
    if profile.absent:
        with context.check("other_profiles"):
            present = [f"{name} {versions[name]}" for name in profile.absent if versions.get(name)]
            id = "versions.foreign_packages" if present else "versions.no_foreign_packages"
            outcome = Outcome.FAILED if present else Outcome.PASSED
            context.finding(id, outcome, present=present, profile=profile.id)


def _report_package(context: StageContext, profile: Profile, name: str, wanted: str, found: str | None) -> None:
    if found is None:
        context.finding("versions.package_missing", Outcome.FAILED, package=name, wanted=wanted, profile=profile.id)
        return
    base, _, tag = found.partition("+")
    # On a package index a wheel has no local tag even where the build has one: only torch itself is asked below.
    tag_right = profile.local is None or name not in ("torch", *profile.tagged) or tag in profile.local
    tags = list(profile.local or ())
    facts: dict[str, Any] = {"package": name, "found": found, "wanted": wanted, "profile": profile.id, "tags": tags}
    if base == wanted and tag_right:
        context.finding("versions.package", Outcome.PASSED, **facts)
    else:
        context.finding("versions.package_wrong", Outcome.FAILED, **facts)


def _report_torch(context: StageContext, profile: Profile, message: dict[str, Any], prefix: str) -> None:
    with context.check("torch_build"):
        build = {"version": message.get("version"), "hip": message.get("hip"), "cuda": message.get("cuda")}
        right = _fits(profile.hip, build["hip"]) and _fits(profile.cuda, build["cuda"])
        base, _, tag = str(build["version"]).partition("+")
        right = right and base == profile.packages["torch"] and (profile.local is None or tag in profile.local)
        id = "versions.torch_build" if right else "versions.torch_build_wrong"
        outcome = Outcome.PASSED if right else Outcome.FAILED
        context.finding(id, outcome, profile=profile.id, wanted=profile.packages["torch"], **build)
    with context.check("torch_place"):
        place = str(message.get("file"))
        inside = PurePath(place).is_relative_to(PurePath(prefix)) if prefix else False
        id = "versions.torch_place" if inside else "versions.torch_elsewhere"
        outcome = Outcome.PASSED if inside else Outcome.FAILED
        context.finding(id, outcome, ["place", "prefix"], place=place, prefix=prefix)
    seconds = message.get("seconds")
    if isinstance(seconds, int | float):
        context.measure("versions.import_torch", float(seconds), "s")


def _fits(wanted: str | None, found: Any) -> bool:
    """None: does not matter. "": must be absent. Else: the prefix that it must have."""
    if wanted is None:
        return True
    return not found if wanted == "" else str(found or "").startswith(wanted)
