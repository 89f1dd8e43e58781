"""The profiles as data: `assets/profiles.toml`, read and checked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_wizard.assets import asset


@dataclass(frozen=True, slots=True)
class Profile:
    """One selectable set of packages and the device that it runs on.

    Attributes:
        device_kind: cpu, cuda, hip or mps: what a sidecar started for it has to report.
        device: the torch device string (`cuda:0` is also the name of a HIP device).
        local: accepted local version tags of torch, None for any.
        hip, cuda: required prefix of `torch.version.hip` / `.cuda`; "" means it must be absent, None either way.
        packages: exact versions without local tag; `tagged` names those that carry torch's tag.
        limits: seconds for versions, compute, ready and message.
    """

    id: str
    device_kind: str
    device: str
    platforms: tuple[str, ...]
    python: str
    env_template: str
    packages: Mapping[str, str]
    limits: Mapping[str, float]
    local: tuple[str, ...] | None = None
    hip: str | None = None
    cuda: str | None = None
    vendor: str | None = None
    absent: tuple[str, ...] = ()
    tagged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileBook:
    """All profiles, in the order of the file."""

    profiles: tuple[Profile, ...] = field(default=())

    def get(self, profile_id: str) -> Profile | None:
        """The named profile."""
        return next((profile for profile in self.profiles if profile.id == profile_id), None)

    def for_platform(self, platform: str) -> tuple[Profile, ...]:
        """The profiles that can run on a platform such as `windows-amd64`."""
        return tuple(profile for profile in self.profiles if platform in profile.platforms)


def load_profiles(path: Path | None = None) -> ProfileBook:
    """Reads the profile file.

    Raises:
        OSError, ValueError, TypeError: the file is missing or wrong; the message names the entry.
    """
    with (path or asset("profiles.toml")).open("rb") as file:
        entries = tomllib.load(file)["profile"]
    profiles: list[Profile] = []
    for entry in entries:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
        }
        try:
            profiles.append(Profile(**values))
        except TypeError as error:
            raise TypeError(f"profile {entry.get('id', '?')!r}: {error}") from error
    if len({profile.id for profile in profiles}) != len(profiles):
        raise ValueError("two profiles have the same id")
    return ProfileBook(tuple(profiles))
