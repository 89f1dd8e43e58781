"""Which profile to recommend, and why."""

from dataclasses import dataclass

from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.fitness import Fitness, fitness_of
from rocm_wizard.machine.knowledge import Knowledge, load_knowledge
from rocm_wizard.machine.matrix import Status
from rocm_wizard.machine.profiles import Profile, ProfileBook


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A profile and the reason.

    Attributes:
        reason: `installed`, `adapter`, `adapter_unlisted` (an adapter that may work but is not listed), `unfit` (an
            adapter is here, but no profile fits it), `fallback` (no adapter is here) or `only_one`.
        fitness: how the profile fits, also where it was not chosen for that.
    """

    profile: Profile
    reason: str
    fitness: Fitness


def recommend(
    book: ProfileBook, machine: MachineFacts, installed: Profile | None, knowledge: Knowledge | None = None
) -> Recommendation | None:
    """The profile that the environment already holds, else the one that fits an adapter best, else the CPU's."""
    known = knowledge or load_knowledge()
    possible = [fitness_of(profile, machine, known) for profile in book.for_platform(machine.platform)]
    if not possible:
        return None
    for fitness in possible:
        if fitness.profile is installed:
            return Recommendation(fitness.profile, "installed", fitness)
    fitting = [one for one in possible if one.chosen is not None and one.unfit is None]
    if fitting:
        best = min(fitting, key=_rank)
        listed = best.profile.device_kind != "hip" or (best.chosen and best.chosen.status is Status.LISTED)
        return Recommendation(best.profile, "adapter" if listed else "adapter_unlisted", best)
    cpu = next((one for one in possible if one.profile.device_kind == "cpu"), None)
    if cpu is None:
        return Recommendation(possible[0].profile, "only_one", possible[0])
    unfit = any(one.chosen is not None for one in possible)
    return Recommendation(cpu.profile, "unfit" if unfit else "fallback", cpu)


def _rank(fitness: Fitness) -> tuple[bool, int, int]:
    """AMD before others; then the release that lists the adapter; then the one whose driver is bound."""
    status = fitness.chosen.status if fitness.chosen else Status.UNKNOWN
    return fitness.profile.vendor != "amd", status.rank, fitness.age.rank
