"""Step 1: which profile is tested, on which machine, in which environment."""

from rocm_wizard.machine.fitness import fitness_of
from rocm_wizard.machine.knowledge import Knowledge, load_knowledge
from rocm_wizard.machine.profiles import Profile
from rocm_wizard.machine.recommend import Recommendation, recommend
from rocm_wizard.machine.target import installed_torch, profile_of_torch
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.profile_environment import report_environment
from rocm_wizard.stages.profile_gpu import report_gpu, report_unused_adapter
from rocm_wizard.stages.profile_machine import report_adapters, report_machine
from rocm_wizard.stages.profile_system import report_paths, report_variables, report_windows
from rocm_wizard.stages.session import Session


class ProfileStage:
    """Reads the machine, finds the target interpreter, chooses a profile and says what stands in its way."""

    id = "profile"

    def __init__(self, session: Session, knowledge: Knowledge | None = None) -> None:
        self._session = session
        self._knowledge = knowledge or load_knowledge()

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        session = self._session
        session.profile = None
        with context.check("machine"):
            report_machine(context, session.machine, self._knowledge.limits)
        with context.check("adapters"):
            report_adapters(context, session.machine, self._knowledge.matrix)
        with context.check("target"):
            if not self._report_target(context):
                return
        with context.check("choice"):
            profile = self._choose(context)
        if profile is None:
            return
        session.profile = profile
        self._report_fitness(context, profile)
        report_environment(context, session, profile, self._knowledge.limits)

    def _report_fitness(self, context: StageContext, profile: Profile) -> None:
        session, known = self._session, self._knowledge
        machine = session.machine
        if profile.vendor is not None and machine.adapters is not None:
            with context.check("gpu"):
                report_gpu(context, machine, fitness_of(profile, machine, known), known)
        if machine.windows is not None:
            with context.check("windows"):
                report_windows(context, machine, profile, known.limits)
        if profile.device_kind == "hip":
            with context.check("paths"):
                report_paths(context, machine, session.target.python, known.limits)
        if known.variables.by_kind(machine.environment):
            with context.check("variables"):
                report_variables(context, machine, profile, known.variables)

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
        advice = recommend(session.book, machine, installed, self._knowledge)
        if advice is None:
            context.finding("profile.no_profile", Outcome.FAILED, platform=machine.platform)
            return None
        chosen, reason = self._ask(context, advice, names)
        self._report_choice(context, chosen, reason)
        return chosen

    def _ask(self, context: StageContext, advice: Recommendation, names: list[str]) -> tuple[Profile, str]:
        chosen, reason = advice.profile, advice.reason
        if len(names) > 1:
            question = Question("profile.choose", tuple(names), chosen.id, {"recommended": chosen.id, "reason": reason})
            answer = context.ask(question)
            if answer.answered_by == "person":
                return self._session.book.get(answer.option) or chosen, "person"
        return chosen, reason

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
        chosen = fitness_of(profile, self._session.machine, self._knowledge).chosen
        context.finding(
            f"profile.chosen_{reason}",
            Outcome.PASSED,
            profile=profile.id,
            device=profile.device,
            device_kind=profile.device_kind,
            adapter=chosen.label if chosen else None,
        )
        if profile.device_kind == "cpu":
            report_unused_adapter(context, self._session, self._knowledge)
