"""Which profile to recommend, and why."""

from dataclasses import dataclass

from rocm_wizard.machine.facts import MachineFacts
from rocm_wizard.machine.profiles import Profile, ProfileBook


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A profile and the reason: `installed`, `adapter`, `only_one` or `fallback`."""

    profile: Profile
    reason: str


def recommend(book: ProfileBook, machine: MachineFacts, installed: Profile | None) -> Recommendation | None:
    """The profile that the environment already holds, else the one for an adapter that is here, else the CPU's."""
    possible = book.for_platform(machine.platform)
    if not possible:
        return None
    if installed is not None and installed in possible:
        return Recommendation(installed, "installed")
    vendors = {adapter.vendor for adapter in machine.adapters or ()}
    for profile in sorted(possible, key=lambda profile: profile.vendor != "amd"):
        if profile.vendor in vendors:
            return Recommendation(profile, "adapter")
    cpu = next((profile for profile in possible if profile.device_kind == "cpu"), None)
    return Recommendation(cpu, "fallback") if cpu else Recommendation(possible[0], "only_one")
