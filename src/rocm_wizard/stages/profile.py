"""Step 1: which profile is tested, on which machine, in which environment."""

from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.profiles import Profile
from rocm_wizard.machine.recommend import recommend
from rocm_wizard.machine.target import installed_torch, profile_of_torch
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.session import Session

ENOUGH_DISK = 2 * 2**30


class ProfileStage:
    """Reads the machine, finds the target interpreter, chooses a profile."""

    id = "profile"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        self._session.profile = None
        with context.check("machine"):
            _report_machine(context, self._session.machine)
        with context.check("target"):
            if not self._report_target(context):
                return
        with context.check("choice"):
            profile = self._choose(context)
        if profile is None:
            return
        self._session.profile = profile
        with context.check("environment"):
            self._report_environment(context, profile)

    def _report_target(self, context: StageContext) -> bool:
        target = self._session.target
        checkout = str(target.checkout) if target.checkout else None
        facts = {"python": str(target.python), "checkout": checkout}
        if target.checkout is not None and not target.checkout.is_dir():
            context.finding("profile.checkout_missing", Outcome.FAILED, ["checkout", "python"], **facts)
            return False
        if not target.python.is_file():
            context.finding("profile.interpreter_missing", Outcome.FAILED, ["checkout", "python"], **facts)
            return False
        context.finding("profile.target", Outcome.PASSED, ["checkout", "python"], **facts)
        return True

    def _choose(self, context: StageContext) -> Profile | None:
        session, machine = self._session, self._session.machine
        possible = session.book.for_platform(machine.platform)
        names = [profile.id for profile in possible]
        wanted = session.options.profile
        if wanted is not None:
            return self._named(context, wanted, names)
        version = installed_torch(session.target.python)
        installed = profile_of_torch(version, session.book, machine.platform) if version else None
        advice = recommend(session.book, machine, installed)
        if advice is None:
            context.finding("profile.no_profile", Outcome.FAILED, platform=machine.platform)
            return None
        chosen, reason = advice.profile, advice.reason
        if len(possible) > 1:
            question = Question("profile.choose", tuple(names), chosen.id, {"recommended": chosen.id, "reason": reason})
            answer = context.ask(question)
            if answer.answered_by == "person":
                chosen, reason = session.book.get(answer.option) or chosen, "person"
        self._report_choice(context, chosen, reason)
        return chosen

    def _named(self, context: StageContext, wanted: str, possible: list[str]) -> Profile | None:
        profile = self._session.book.get(wanted)
        if profile is not None and wanted in possible:
            self._report_choice(context, profile, "option")
            return profile
        id = "profile.unknown" if profile is None else "profile.excluded_by_platform"
        known = possible if profile is not None else [known.id for known in self._session.book.profiles]
        platform = self._session.machine.platform
        context.finding(id, Outcome.FAILED, profile=wanted, platform=platform, possible=known)
        return None

    def _report_choice(self, context: StageContext, profile: Profile, reason: str) -> None:
        context.finding(
            f"profile.chosen_{reason}",
            Outcome.PASSED,
            profile=profile.id,
            device=profile.device,
            device_kind=profile.device_kind,
        )
        vendors = {adapter.vendor for adapter in self._session.machine.adapters or ()}
        for other in self._session.book.for_platform(self._session.machine.platform):
            if profile.device_kind == "cpu" and other.vendor in vendors:
                context.finding("profile.adapter_unused", Outcome.WARNING, profile=other.id, vendor=str(other.vendor))
                return

    def _report_environment(self, context: StageContext, profile: Profile) -> None:
        session = self._session
        version = installed_torch(session.target.python)
        facts = {"profile": profile.id, "found": version, "python": str(session.target.python)}
        if version is None:
            context.finding("profile.torch_missing", Outcome.FAILED, ["python"], **facts)
            return
        holds = profile_of_torch(version, session.book, session.machine.platform)
        if holds is not None and holds.id != profile.id and holds.packages["torch"] != profile.packages["torch"]:
            context.finding("profile.other_profile_installed", Outcome.FAILED, ["python"], holds=holds.id, **facts)
            return
        context.finding("profile.torch_installed", Outcome.PASSED, ["python"], **facts)


def _report_machine(context: StageContext, machine: MachineFacts) -> None:
    context.finding(
        "profile.machine",
        Outcome.PASSED,
        system=machine.system,
        release=machine.release,
        cpu=machine.cpu,
        cores=machine.cores,
        memory_gib=round(machine.memory / 2**30, 1) if machine.memory else None,
    )
    if machine.adapters is None:
        context.finding("profile.adapters_unread", Outcome.WARNING, source=machine.adapters_source)
    else:
        shown = [f"{adapter.vendor} {adapter.name or adapter.device_id}" for adapter in machine.adapters]
        id = "profile.adapters" if shown else "profile.no_adapter"
        context.finding(id, Outcome.PASSED, adapters=shown, source=machine.adapters_source)
    if machine.disk_free is not None and machine.disk_free < ENOUGH_DISK:
        context.finding("profile.disk_low", Outcome.WARNING, free_mib=machine.disk_free // 2**20)
