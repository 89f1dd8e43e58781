"""The adapter that a GPU profile would use: is it one that can work, and what is bound to it?"""

from typing import Any

from rocm_wizard.machine.adapters import DISABLED, Adapter
from rocm_wizard.machine.drivers import Age, order_of
from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.fitness import Candidate, Fitness, Unfit, fitness_of, windows_unfit
from rocm_wizard.machine.knowledge import Knowledge
from rocm_wizard.machine.matrix import Release, Status
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.session import Session

_BEFORE_RDNA3 = ("RDNA2", "RDNA1", "GCN")
"""HIP may already crash when torch only asks whether a device is there: ROCm/ROCm#5871, ROCm/TheRock#3892."""

_STATUS_FINDINGS = {
    Status.LISTED: ("profile.gpu_listed", Outcome.PASSED),
    Status.NOT_LISTED: ("profile.gpu_not_listed", Outcome.WARNING),
    Status.DISPUTED: ("profile.gpu_disputed", Outcome.WARNING),
    Status.UNKNOWN: ("profile.gpu_unknown", Outcome.WARNING),
    Status.NOT_USABLE: ("profile.gpu_not_usable", Outcome.WARNING),
}
_AGE_FINDINGS = {
    Age.AS_DOCUMENTED: ("profile.driver_as_documented", Outcome.PASSED),
    Age.NEWER: ("profile.driver_newer", Outcome.WARNING),
    Age.OLDER: ("profile.driver_older", Outcome.FAILED),
    Age.UNKNOWN: ("profile.driver_not_judged", Outcome.WARNING),
}


def report_unused_adapter(context: StageContext, session: Session, knowledge: Knowledge) -> None:
    """For a profile without a GPU: an adapter of another profile is here, and whether that profile would fit."""
    for other in session.book.for_platform(session.machine.platform):
        fitness = fitness_of(other, session.machine, knowledge)
        if other.vendor is None or fitness.chosen is None:
            continue
        facts: dict[str, Any] = {"profile": other.id, "vendor": other.vendor, "adapter": fitness.chosen.label}
        if fitness.unfit is None:
            context.finding("profile.adapter_unused", Outcome.WARNING, **facts)
        else:
            ids = {Unfit.WINDOWS: "profile.adapter_unfit_windows"}
            id = ids.get(fitness.unfit, "profile.adapter_unfit")
            context.finding(id, Outcome.PASSED, gfx=fitness.chosen.match.gfx, **facts)
        return


def report_gpu(context: StageContext, machine: MachineFacts, fitness: Fitness, knowledge: Knowledge) -> None:
    """For a GPU profile: everything that can be known before torch is imported."""
    profile, chosen, release = fitness.profile, fitness.chosen, fitness.release
    if chosen is None:
        context.finding("profile.gpu_missing", Outcome.FAILED, profile=profile.id, vendor=profile.vendor)
        return
    if profile.device_kind != "hip":
        context.finding("profile.gpu_present", Outcome.PASSED, adapter=chosen.label, driver=chosen.adapter.driver)
        return
    if release is None:
        rocm = profile.packages.get("rocm")
        context.finding("profile.release_unknown", Outcome.WARNING, profile=profile.id, rocm=rocm)
        return
    _report_windows_release(context, machine, release)
    if _report_status(context, chosen, release) is Outcome.FAILED:
        return
    if _report_binding(context, chosen.adapter, chosen.label):
        _report_driver(context, chosen, release, fitness.age, knowledge)
        _report_monitor(context, chosen, fitness.candidates)
    _report_others(context, machine, fitness.candidates, knowledge)


def _report_windows_release(context: StageContext, machine: MachineFacts, release: Release) -> None:
    windows = machine.windows
    if windows is None or not windows_unfit(machine, release):
        return
    facts: dict[str, Any] = {"name": windows.name, "build": windows.build, "wanted": release.windows_build}
    id = "profile.windows_too_old" if windows.workstation else "profile.windows_server"
    context.finding(id, Outcome.FAILED, rocm=release.rocm, **facts)


def _report_status(context: StageContext, chosen: Candidate, release: Release) -> Outcome:
    match = chosen.match
    id, outcome = _STATUS_FINDINGS[chosen.status]
    if chosen.status is Status.NOT_USABLE and match.family in _BEFORE_RDNA3:
        id, outcome = "profile.gpu_refused", Outcome.FAILED
    listed = [release.listed[product.id] for product in match.products if product.id in release.listed]
    confidence = listed[0] if chosen.status is Status.LISTED else None
    context.finding(
        id,
        outcome,
        adapter=chosen.label,
        product=match.name,
        device=chosen.adapter.device_id,
        gfx=match.gfx,
        family=match.family,
        rocm=release.rocm,
        status=str(chosen.status),
        confidence=confidence,
        ambiguous=len(match.products) > 1,
        page=release.pages[0] if release.pages else None,
    )
    return outcome


def _report_binding(context: StageContext, adapter: Adapter, label: str) -> bool:
    """Whether a driver of its own is bound and runs."""
    facts: dict[str, Any] = {"adapter": label, "problem": adapter.problem, "driver": adapter.driver}
    if adapter.problem == DISABLED:
        context.finding("profile.adapter_disabled", Outcome.FAILED, **facts)
    elif adapter.generic or adapter.problem == 28:  # CM_PROB_FAILED_INSTALL: no driver is installed
        context.finding("profile.driver_missing", Outcome.FAILED, **facts)
    elif adapter.problem:
        context.finding("profile.adapter_problem", Outcome.FAILED, **facts)
    return adapter.works


def _report_driver(context: StageContext, chosen: Candidate, release: Release, age: Age, knowledge: Knowledge) -> None:
    adapter, family = chosen.adapter, chosen.match.family
    wanted = knowledge.drivers.find(release.driver, family)
    package = knowledge.drivers.package_of(adapter.driver, family)
    id, outcome = _AGE_FINDINGS[age]
    context.finding(
        id,
        outcome,
        adapter=chosen.label,
        driver=adapter.driver,
        package=package.adrenalin if package else None,
        adrenalin=adapter.adrenalin,
        wanted=release.driver,
        wanted_driver=wanted.wddm if wanted else None,
        rocm=release.rocm,
    )
    installed = knowledge.drivers.find(adapter.adrenalin, family)
    if installed is not None and order_of(installed.wddm) != order_of(adapter.driver):
        facts = {"adapter": chosen.label, "driver": adapter.driver, "adrenalin": adapter.adrenalin}
        context.finding("profile.driver_disagrees", Outcome.WARNING, expected=installed.wddm, **facts)


def _report_monitor(context: StageContext, chosen: Candidate, candidates: tuple[Candidate, ...]) -> None:
    """A card that drives no monitor beside a processor GPU that does: HIP crashes at start, ROCm/ROCm#6458."""
    if chosen.adapter.attached is None:
        return
    if chosen.adapter.attached:
        context.finding("profile.monitor", Outcome.PASSED, adapter=chosen.label)
        return
    igpu = next((one for one in candidates[1:] if one.match.integrated and one.adapter.attached), None)
    if igpu is not None:
        facts = {"adapter": chosen.label, "other": igpu.label}
        context.finding("profile.no_monitor_beside_igpu", Outcome.WARNING, **facts)
    else:
        context.finding("profile.no_monitor", Outcome.WARNING, adapter=chosen.label)


def _report_others(
    context: StageContext, machine: MachineFacts, candidates: tuple[Candidate, ...], knowledge: Knowledge
) -> None:
    chosen, others = candidates[0], [one for one in candidates[1:] if one.adapter.problem != DISABLED]
    for other in others:
        if not other.adapter.works:
            problem = other.adapter.problem
            context.finding("profile.other_adapter_problem", Outcome.WARNING, adapter=other.label, problem=problem)
    _report_mixed_drivers(context, chosen, others, knowledge)
    igpu = next((one for one in others if one.match.integrated and one.adapter.works), None)
    if igpu is None or chosen.match.integrated or not chosen.adapter.works:
        return
    visible = machine.environment.get("HIP_VISIBLE_DEVICES")
    facts: dict[str, Any] = {"adapter": chosen.label, "igpu": igpu.label, "igpu_gfx": igpu.match.gfx}
    if visible is not None and visible.split(",")[0].strip() not in ("", "0"):
        context.finding("profile.igpu_hidden", Outcome.PASSED, visible=visible, **facts)
    else:
        index = sum(one.match.integrated and one.adapter.works for one in others)
        context.finding("profile.igpu_first", Outcome.WARNING, visible=visible, index=index, **facts)


def _report_mixed_drivers(
    context: StageContext, chosen: Candidate, others: list[Candidate], knowledge: Knowledge
) -> None:
    """Two AMD adapters from two driver packages: ROCm/ROCm#6328."""
    packages = {
        one.label: package.adrenalin
        for one in (chosen, *others)
        if (package := knowledge.drivers.package_of(one.adapter.driver, one.match.family))
    }
    if len(set(packages.values())) > 1:
        named = [f"{label}: {adrenalin}" for label, adrenalin in packages.items()]
        context.finding("profile.drivers_differ", Outcome.WARNING, packages=named)
