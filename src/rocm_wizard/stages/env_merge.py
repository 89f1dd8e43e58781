"""Step 4: the profile's settings go into the `.env`, previewed, verified, and undoable."""

from pathlib import Path

from rocm_wizard.assets import asset
from rocm_wizard.envfile import EnvFileError
from rocm_wizard.places import state_folder
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Question, StageContext
from rocm_wizard.stages.env_merging import MergeRequest, merge
from rocm_wizard.stages.env_template import template_values
from rocm_wizard.stages.session import Session

OWN_FILE = "voice.env"


class EnvMergeStage:
    """Merges the template of the chosen profile; a file that somebody owns is written with consent only."""

    id = "env_merge"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        session = self._session
        own = session.options.env_file is None and session.target.checkout is None
        request = MergeRequest(
            self._path(),
            template_values(asset(session.chosen.env_template)),
            checkout=session.target.checkout,
            python=session.target.python if session.target.checkout else None,
            own=own,
            named=session.options.settings,
            receipts=None if own else receipts_folder(),
            consent=self._consent,
        )
        try:
            merge(context, request)
        except EnvFileError as error:
            facts = {"file": str(error.path), "reason": error.message, "state": error.state}
            context.finding(f"env.{error.code}", Outcome.FAILED, ["file"], **facts)

    def _path(self) -> Path:
        session = self._session
        if session.options.env_file is not None:
            return session.options.env_file.absolute()
        return session.target.checkout / ".env" if session.target.checkout else session.run_folder / OWN_FILE

    def _consent(self, context: StageContext, path: Path) -> bool:
        options = self._session.options
        if options.env_file is None and self._session.target.checkout is None:
            return True
        if options.yes:
            context.finding("env.consent_by_option", Outcome.PASSED)
            return True
        answer = ask_consent(context, path)
        if answer == "nobody":
            context.finding("env.no_consent", Outcome.COULD_NOT_CHECK, ["file"], file=str(path))
        return answer == "apply"


def ask_consent(context: StageContext, path: Path) -> str:
    """`apply`, `decline`, or `nobody` where there is nobody to ask; a person's answer becomes a finding."""
    answer = context.ask(Question("env.apply", ("apply", "decline"), "nobody", {"file": str(path)})).option
    if answer == "apply":
        context.finding("env.consent", Outcome.PASSED)
    elif answer == "decline":
        context.finding("env.declined", Outcome.CANCELLED, ["file"], file=str(path))
    return answer


def receipts_folder() -> Path:
    """Where the receipts of writes are kept."""
    return state_folder() / "env"
