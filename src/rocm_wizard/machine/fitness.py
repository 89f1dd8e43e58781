"""Whether a profile fits this machine, on which adapter, and why not."""

from dataclasses import dataclass, field
from enum import StrEnum

from rocm_wizard.machine.adapters import DISABLED, Adapter
from rocm_wizard.machine.drivers import Age
from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.knowledge import Knowledge
from rocm_wizard.machine.matrix import Match, Release, Status, status_of
from rocm_wizard.machine.profiles import Profile


class Unfit(StrEnum):
    """Why a profile is not recommended."""

    NO_ADAPTER = "no_adapter"
    GPU = "gpu"
    WINDOWS = "windows"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An adapter of the profile's vendor, what it is, and its status in the profile's release."""

    adapter: Adapter
    match: Match = field(default_factory=Match)
    status: Status = Status.UNKNOWN

    @property
    def label(self) -> str:
        """The driver's name for it; the matrix' where the driver says nothing."""
        adapter = self.adapter
        vague = adapter.generic or not adapter.name or adapter.name.endswith("Radeon(TM) Graphics")
        return (self.match.name or adapter.label) if vague else str(adapter.name)


@dataclass(frozen=True, slots=True)
class Fitness:
    """How a profile fits. `candidates` is best first; the first is the adapter that would be used."""

    profile: Profile
    release: Release | None = None
    candidates: tuple[Candidate, ...] = ()
    unfit: Unfit | None = None
    age: Age = Age.UNKNOWN

    @property
    def chosen(self) -> Candidate | None:
        """The adapter that the profile is about."""
        return self.candidates[0] if self.candidates else None


def fitness_of(profile: Profile, machine: MachineFacts, knowledge: Knowledge) -> Fitness:
    """How a profile fits; where the adapters could not be read nothing speaks for or against it."""
    if profile.vendor is None:
        return Fitness(profile)
    adapters = [one for one in machine.adapters or () if one.vendor == profile.vendor and one.bus == "pci"]
    if profile.device_kind != "hip":
        found = tuple(Candidate(one) for one in sorted(adapters, key=lambda one: not one.works))
        return Fitness(profile, candidates=found, unfit=None if found else Unfit.NO_ADAPTER)
    release = knowledge.matrix.release_of(profile, machine.platform)
    candidates = _candidates(adapters, machine.cpu, release, knowledge)
    if not candidates:
        return Fitness(profile, release, unfit=Unfit.NO_ADAPTER)
    best = candidates[0]
    age = Age.UNKNOWN
    if release is not None:
        age = knowledge.drivers.age(release.driver, best.adapter.driver, best.match.family)
    unfit = None if best.status.usable else Unfit.GPU
    if windows_unfit(machine, release):
        unfit = Unfit.WINDOWS
    return Fitness(profile, release, candidates, unfit, age)


def windows_unfit(machine: MachineFacts, release: Release | None) -> bool:
    """Whether this Windows is older than the release demands, or a server."""
    windows = machine.windows
    if windows is None or release is None:
        return False
    return windows.build < release.windows_build or not windows.workstation


def _candidates(
    adapters: list[Adapter], cpu: str | None, release: Release | None, knowledge: Knowledge
) -> tuple[Candidate, ...]:
    found: list[Candidate] = []
    for adapter in adapters:
        match = knowledge.matrix.find(adapter, cpu)
        found.append(Candidate(adapter, match, status_of(match, release) if release else Status.UNKNOWN))
    return tuple(sorted(found, key=_preference))


def _preference(candidate: Candidate) -> tuple[bool, bool, bool, int, int]:
    """What can be used before what cannot, a card before a processor's own GPU, then status and memory."""
    adapter = candidate.adapter
    return (
        adapter.problem == DISABLED,
        not candidate.status.usable,
        candidate.match.integrated,
        candidate.status.rank,
        -(adapter.vram or 0),
    )
