"""Judges interpreter, packages and torch build against the profile."""

from pathlib import PurePath
from typing import Any

from rocm_wizard.machine.profiles import Profile
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.versions_rules import Pin


def report_interpreter(context: StageContext, profile: Profile, message: dict[str, Any]) -> None:
    """CPython of the right version, 64 bit, in a virtual environment."""
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


def report_packages(context: StageContext, profile: Profile, versions: dict[str, Any]) -> None:
    """Each of the profile's packages exact, none of another profile's."""
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


def report_pins(context: StageContext, profile: Profile, pins: tuple[Pin, ...], versions: dict[str, Any]) -> None:
    """Packages that a checkout's own code holds together."""
    for pin in pins:
        if versions.get(pin.package) != pin.package_version:
            continue
        found = versions.get(pin.needs)
        right = found == pin.version
        with context.check("pins"):
            context.finding(
                "versions.pin" if right else "versions.pin_wrong",
                Outcome.PASSED if right else Outcome.FAILED,
                package=pin.package,
                package_version=pin.package_version,
                needs=pin.needs,
                wanted=pin.version,
                found=found,
                profile=profile.id,
            )


def report_torch(context: StageContext, profile: Profile, message: dict[str, Any], prefix: str) -> None:
    """The build that was really loaded, and where from."""
    took = message.get("seconds")
    with context.check("torch_build", took=took if isinstance(took, float) else None):
        build = {"version": message.get("version"), "hip": message.get("hip"), "cuda": message.get("cuda")}
        right = _fits(profile.hip, build["hip"]) and _fits(profile.cuda, build["cuda"])
        base, _, tag = str(build["version"]).partition("+")
        right = right and base == profile.packages["torch"] and (profile.local is None or tag in profile.local)
        for_gpu = profile.device_kind in ("hip", "cuda")
        id = "versions.torch_build"
        if not right:
            bare = not build["hip"] and not build["cuda"]
            id = "versions.cpu_build" if for_gpu and bare else "versions.torch_build_wrong"
        outcome = Outcome.PASSED if right else Outcome.FAILED
        tags = list(profile.local or ())
        context.finding(id, outcome, profile=profile.id, wanted=profile.packages["torch"], tags=tags, **build)
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
    """None: does not matter. "": must be absent. Else: the number, or one that goes on after it with a dot."""
    if wanted is None:
        return True
    number = str(found or "")
    return not found if wanted == "" else number == wanted or number.startswith(wanted + ".")
