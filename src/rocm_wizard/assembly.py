"""Puts a run together: target, journal, runner, stages, pipeline, and the way it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_wizard import __version__
from rocm_wizard.given import given_options
from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.target import find_target
from rocm_wizard.places import state_folder
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.journal import Journal
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import Stage, StageContext
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.stages.session import Options, Session

if TYPE_CHECKING:
    from rocm_wizard.machine.facts import MachineFacts

STAGES = {
    "profile": "ProfileStage",
    "versions": "VersionsStage",
    "compute": "ComputeStage",
    "env_merge": "EnvMergeStage",
    "asr_smoke": "AsrSmokeStage",
    "tts_smoke": "TtsSmokeStage",
}
"""Each step's id, which is its module's name in `stages`, and its class; the order is the gates' order too."""

SOAK = {"soak": "SoakStage"}
"""The step that `--level soak` adds."""

OPTIONAL = {"acceptance": "AcceptanceStage"}
"""Steps at the end of a whole run that do not count for its verdict."""

_CLASSES = STAGES | SOAK | OPTIONAL


class LazyStage:
    """A step whose module is loaded when it runs: opening the wizard must not wait for numpy and its like."""

    def __init__(self, id: str, session: Session) -> None:
        self.id = id
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        module = import_module(f"rocm_wizard.stages.{self.id}")
        stage: Stage = getattr(module, _CLASSES[self.id])(self._session)
        stage.run(context)


def runs_folder() -> Path:
    """Where runs are kept."""
    return state_folder() / "runs"


def new_run_folder(parent: Path) -> Path:
    """A fresh folder named by the UTC time.

    Raises:
        OSError: it cannot be made.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for suffix in ("", *(f"-{number}" for number in range(2, 100))):
        folder = parent / f"{stamp}{suffix}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{parent / stamp} and its numbered neighbours exist")


@dataclass(slots=True)
class Run:
    """A run that is ready to go, and what it leaves behind."""

    pipeline: Pipeline
    session: Session
    catalogue: Catalogue
    folder: Path
    given: Mapping[str, str | list[str]] = field(default_factory=dict[str, "str | list[str]"])
    reports: list[Path] = field(default_factory=list[Path])
    report_error: str | None = None

    def finish(self, interrupted: bool) -> ExitCode:
        """Ends what is left, writes the journal's last line and the report files, gives the exit code."""
        from rocm_wizard.report.writer import write_reports  # not while the wizard opens

        self.session.runner.stop_all()
        code = self.pipeline.finish(interrupted=interrupted)
        error = self.pipeline.journal.write_error
        missing = [self.catalogue.format("missing", "unwritten", detail=error)] if error else []
        try:
            self.reports = write_reports(self.pipeline.state, self.catalogue, self.folder, missing=missing)
        except OSError as failure:
            self.reports, self.report_error = [], f"{failure.filename or self.folder}: {failure.strerror}"
        return code

    def report_paths(self) -> Sequence[Path]:
        """The report files of the ended run."""
        return self.reports


def prepare(
    options: Options,
    *,
    language: str = "en",
    checkout: Path | None = None,
    python: Path | None = None,
    stages: Sequence[str] | None = None,
    runs: Path | None = None,
) -> Run:
    """Builds a run; nothing is started yet.

    Raises:
        OSError: the run's folder or the data files cannot be used.
    """
    folder = new_run_folder(runs or runs_folder())
    journal = Journal(folder / "journal.jsonl")
    runner = RealRunner(journal.append, folder / "logs")

    def machine() -> "MachineFacts":
        from rocm_wizard.machine.facts import read_machine  # with psutil and the registry: not while the wizard opens

        return read_machine(folder)

    session = Session(find_target(checkout, python), load_profiles(), machine, folder, runner, options)
    wanted = [id for id in STAGES if stages is None or id in stages]
    wanted += SOAK if options.level == "soak" else ()
    wanted += OPTIONAL if stages is None or options.acceptance else ()
    chosen = [LazyStage(id, session) for id in wanted]
    given = given_options(checkout, python, options)
    return Run(Pipeline(chosen, journal, clean_up=runner.stop_all), session, Catalogue(language), folder, given)


def start(run: Run) -> None:
    """Writes the journal's first line; subscribers should be there by now."""
    session = run.session
    target = {
        "python": str(session.target.python),
        "checkout": str(session.target.checkout) if session.target.checkout else None,
        "profile": session.options.profile,
        "given": run.given,
    }
    run.pipeline.start(
        __version__,
        target,
        session.machine.fingerprint(),
        run.catalogue.language,
        level=session.options.level,
        partial=not {stage.id for stage in run.pipeline.stages} >= STAGES.keys(),
        optional=tuple(OPTIONAL),
    )
