"""What the stages of one run share: the target, the options, and what earlier stages decided."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_wizard.machine.profiles import Profile, ProfileBook
from rocm_wizard.machine.target import Target
from rocm_wizard.runner.spec import Runner

if TYPE_CHECKING:
    from rocm_wizard.machine.facts import MachineFacts

PROBES = Path(__file__).resolve().parent.parent / "probes"


@dataclass(frozen=True, slots=True)
class TtsModelPaths:
    """The person's own GPT-SoVITS files; None is looked for in the `.env` file and in the checkout.

    `pretrained`: folder with BigVGAN, HuBERT, RoBERTa and the base v3 file. `nltk`: folder with NLTK's data.
    """

    gpt: Path | None = None
    sovits: Path | None = None
    pretrained: Path | None = None
    nltk: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What the person asked for. None means: the default of the stage that reads it."""

    profile: str | None = None
    env_file: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    yes: bool = False
    level: str = "standard"
    graphs: bool = False
    repeat: int = 2
    asr_engine: str | None = None
    asr_model: Path | None = None
    asr_command: Sequence[str] | None = None
    audio: Path | None = None
    transcript: str | None = None
    asr_language: str | None = None
    tts_engine: str | None = None
    tts_models: TtsModelPaths = TtsModelPaths()
    tts_command: Sequence[str] | None = None
    text: str | None = None
    tts_language: str | None = None
    reference: Path | None = None
    reference_text: str | None = None
    chunk_seconds: float = 0.8
    output: Path | None = None
    compare_concurrency: bool = False
    play: bool = True
    output_device: str | None = None
    minutes: float = 15.0
    acceptance: bool = False
    compute_probe: Path = PROBES / "compute.py"
    versions_probe: Path = PROBES / "versions.py"
    limits: Mapping[str, float] = field(default_factory=dict[str, float])


class Session:
    """One run's shared values. `profile` is set by the profile stage and read by every later one.

    `machine` may be given as a function: it is then read when somebody first wants it, not while the wizard opens.
    """

    def __init__(
        self,
        target: Target,
        book: ProfileBook,
        machine: "MachineFacts | Callable[[], MachineFacts]",
        run_folder: Path,
        runner: Runner,
        options: Options | None = None,
    ) -> None:
        self.target = target
        self.book = book
        self.run_folder = run_folder
        self.runner = runner
        self.options = options or Options()
        self.profile: Profile | None = None
        self._machine = machine

    @property
    def machine(self) -> "MachineFacts":
        """What this computer is."""
        if callable(self._machine):
            self._machine = self._machine()
        return self._machine

    @machine.setter
    def machine(self, value: "MachineFacts") -> None:
        self._machine = value

    @property
    def chosen(self) -> Profile:
        """The chosen profile. The gate guarantees that there is one after the profile stage."""
        if self.profile is None:
            raise RuntimeError("no profile was chosen")
        return self.profile

    @property
    def working_folder(self) -> Path:
        """Where children are started: the checkout's root, else the run's own folder."""
        return self.target.checkout or self.run_folder

    def as_the_host(self) -> "Session":
        """This run as the application sees it: without the text, models and reference given to the wizard."""
        other = copy.copy(self)
        other.options = replace(
            self.options,
            tts_engine="checkout",
            tts_models=TtsModelPaths(),
            text=None,
            tts_language=None,
            reference=None,
            reference_text=None,
        )
        return other

    def limit(self, name: str) -> float:
        """A time limit of the profile in seconds, or the one an option set in its place."""
        return self.options.limits.get(name) or self.chosen.limits[name]
