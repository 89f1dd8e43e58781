"""What a finding and its machine say, in the shape that the known-issue book asks about."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.exit_forms import exits_in

_GFX = re.compile(r"gfx[0-9a-f]+")
_ROCM_TAG = re.compile(r"\+rocm(?:sdk)?([0-9][0-9a-z.]*)")
_AMD = "amd"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as far as it is known: instruction set, marketing name (lower case), PCI device id, driver versions."""

    gfx: str = ""
    name: str = ""
    pci: str = ""
    drivers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything the book can match on.

    Attributes:
        gpus: the GPU that computed where the finding or the run names it, else every AMD adapter of the machine;
            empty for a run on another kind of device.
        adapters: every AMD adapter of the machine.
        text: all text facts, lower case, blanks collapsed.
    """

    finding: str
    exits: frozenset[int]
    text: str
    step: str
    platform: str
    gpus: tuple[Gpu, ...]
    adapters: tuple[Gpu, ...]
    torch: tuple[str, ...]
    rocm: tuple[str, ...]


def learn(facts: dict[str, Any], finding: Finding) -> None:
    """Adds to a run's machine facts what a finding says about torch, the device and the profile."""
    said = finding.facts
    if finding.id.startswith("profile.chosen_"):
        facts.update({name: said[name] for name in ("profile", "device_kind") if said.get(name)})
    torch = _torch_of(finding)
    if torch:
        facts["torch"] = torch
    if finding.id.startswith("versions.torch_build") and said.get("hip"):
        facts["hip"] = said["hip"]
    if finding.id.startswith("compute.device") and said.get("gfx"):
        facts.update(gfx=said["gfx"], device_name=said.get("device_name") or said.get("name"))


def machine_facts(state: RunState) -> dict[str, Any]:
    """The machine as a run's first line and its findings so far describe it."""
    facts = dict(state.header.machine) if state.header else {}
    for stage in state.stages:
        for finding in stage.findings:
            learn(facts, finding)
    return facts


def gather(finding: Finding, machine: Mapping[str, Any]) -> Evidence:
    """The evidence of one finding."""
    texts = _texts(finding.facts)
    adapters = _adapters(machine)
    torch = _strings(finding.facts.get("torch"), _torch_of(finding), machine.get("torch"))
    tags = [match[1] for version in torch if (match := _ROCM_TAG.search(version))]
    return Evidence(
        finding=finding.id,
        exits=exits_in(finding.facts, texts),
        text=" ".join(" ".join(texts).casefold().split()),
        step=str(finding.facts.get("step") or "").casefold(),
        platform=str(machine.get("platform") or "").partition("-")[0],
        gpus=_computing(finding, machine, adapters),
        adapters=adapters,
        torch=torch,
        rocm=_strings(*tags, finding.facts.get("hip"), machine.get("hip"), machine.get("rocm")),
    )


def _torch_of(finding: Finding) -> str:
    said = finding.facts
    if finding.id.startswith("versions.torch_build") or finding.id == "versions.cpu_build":
        return str(said.get("version") or "")
    if finding.id.startswith("versions.package") and said.get("package") == "torch":
        return str(said.get("found") or "")
    if finding.id in ("profile.torch_installed", "profile.other_profile_installed"):
        return str(said.get("found") or "")
    return ""


def _computing(finding: Finding, machine: Mapping[str, Any], adapters: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The GPU that the finding is about. A crash of the CPU build says nothing about the Radeon beside it."""
    if not finding.id.startswith("profile.") and machine.get("device_kind") not in (None, "hip"):
        return ()
    for source in (finding.facts, machine):
        gfx, name = _gfx(source.get("gfx")), str(source.get("device_name") or "").casefold()
        if gfx:
            drivers = tuple(driver for gpu in adapters if gpu.gfx in ("", gfx) for driver in gpu.drivers)
            return (Gpu(gfx, name, drivers=drivers),)
    return adapters


def _adapters(machine: Mapping[str, Any]) -> tuple[Gpu, ...]:
    rows = machine.get("adapters")
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        return ()
    return tuple(_adapter(row) for row in rows if isinstance(row, Mapping) and row.get("vendor") == _AMD)


def _adapter(row: Mapping[str, Any]) -> Gpu:
    named = ("driver", "adrenalin", "software")
    drivers = [value for key, value in row.items() if any(part in key for part in named)]
    pci = str(row.get("device_id") or "").casefold()
    return Gpu(_gfx(row.get("gfx")), str(row.get("name") or "").casefold(), pci, _strings(*drivers))


def _gfx(value: Any) -> str:
    """The target without its feature suffix: `gfx1103` of `gfx1103:xnack-`."""
    match = _GFX.match(str(value or "").casefold())
    return match[0] if match else ""


def _texts(facts: Mapping[str, Any]) -> list[str]:
    texts: list[str] = []
    for value in facts.values():
        texts += [str(item) for item in value] if isinstance(value, list | tuple) else []
        texts += [value] if isinstance(value, str) else []
    if isinstance(number := facts.get("winerror"), int):
        texts.append(f"WinError {number}")  # a translated Windows says the rest in its own language
    return texts


def _strings(*values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.casefold() for value in values if isinstance(value, str) and value))
