"""One stage at a time, with real children, in a session made for the test."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil

from rocm_wizard.machine.adapters import Adapter
from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Journal, JournalReading
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.reducer import reduce
from rocm_wizard.qualification.stage import Stage
from rocm_wizard.qualification.state import RunState
from rocm_wizard.runner.real import RealRunner
from rocm_wizard.stages.session import Options, Session

CHILDREN = Path(__file__).parent.parent / "children"

MACHINE = MachineFacts(
    platform="linux-x86_64",
    system="Linux",
    release="6.1",
    cpu="Test CPU",
    cores=2,
    memory=2**34,
    disk_free=2**36,
    adapters=(Adapter("intel", "5917"),),
    adapters_source="test",
)


class Bench:
    """Runs stages behind each other and remembers the session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder / "journal.jsonl")
        self.runner = RealRunner(self.journal.append, folder / "logs")
        book = load_profiles()
        options = Options(play=False)
        self.session = Session(Target(Path(sys.executable)), book, MACHINE, folder, self.runner, options)
        self.session.profile = book.get("torch-cpu")

    def options(self, **changes: object) -> None:
        """Changes options of the session."""
        self.session.options = replace(self.session.options, **changes)

    def run(self, *stages: Callable[[Session], Stage]) -> RunState:
        """Runs the stages; checks that no child is left and that the journal reads back to the same state."""
        pipeline = Pipeline([stage(self.session) for stage in stages], self.journal, clean_up=self.runner.stop_all)
        pipeline.start("test", {}, {}, "en")
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        state = pipeline.run()
        left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
        assert [child for child in left if child.status() != psutil.STATUS_ZOMBIE] == []
        pipeline.finish()
        reading = JournalReading(self.journal.path)
        assert reduce(reading).stages == state.stages
        assert reading.problems == []
        return pipeline.state


def bad(state: RunState, stage: str) -> Finding:
    """The one finding that did not pass."""
    found = [finding for finding in state.stage(stage).findings if finding.outcome is not Outcome.PASSED]
    assert len(found) == 1, found
    return found[0]


def bad_sidecar(kind: str, mode: str) -> list[str]:
    """The command of a misbehaving sidecar."""
    return [sys.executable, "-u", str(CHILDREN / "bad_sidecar.py"), kind, mode]
