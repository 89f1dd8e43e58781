"""What the device says of itself, judged: the wheel's architectures, and the integrated GPU that took index 0."""

from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext


def base_architecture(gfx: str) -> str:
    """`gfx1201` of `gfx1201:sramecc-:xnack-`."""
    return gfx.partition(":")[0]


def has_kernels(gfx: str | None, capability: list[int] | None, architectures: list[str]) -> bool | None:
    """Whether a torch build with these architectures holds kernels for a device. None: nothing to judge by.

    HIP: the same architecture, or a generic one that covers it (`gfx11-generic`; `gfx10-3-generic` covers gfx103x).
    CUDA: machine code of the same major and no later minor version (`sm_90`), or PTX of no later one (`compute_80`).
    """
    if not architectures:
        return None
    if gfx:
        base = base_architecture(gfx)
        families = [name.removesuffix("-generic").replace("-", "") for name in architectures if "-generic" in name]
        return base in {base_architecture(name) for name in architectures} or base.startswith(tuple(families))
    if not capability or len(capability) != 2:
        return None
    return any(_runs_on(capability, name) for name in architectures)


def _runs_on(capability: list[int], name: str) -> bool:
    kind, _, digits = name.partition("_")
    digits = digits.rstrip("af")  # sm_90a: one architecture's own instructions
    if not digits.isdigit():
        return False
    major, minor = int(digits[:-1] or 0), int(digits[-1])
    if kind == "compute":
        return [major, minor] <= capability
    return kind == "sm" and major == capability[0] and minor <= capability[1]


def report_device(context: StageContext, message: dict[str, Any]) -> dict[str, Any]:
    """Findings about the device; returns the facts that every later finding carries."""
    names = ("device", "memory", "free", "count", "arch_list")
    facts: dict[str, Any] = {name: message.get(name) for name in names}
    facts.update(device_name=message.get("name"), gfx=message.get("gfx"))
    with context.check("enumerate"):
        context.finding("compute.device" if facts["device_name"] else "compute.device_unnamed", Outcome.PASSED, **facts)
        fits = has_kernels(facts["gfx"], message.get("capability"), message.get("arch_list") or [])
        if fits is False:
            architecture = base_architecture(facts["gfx"]) if facts["gfx"] else _dotted(message.get("capability"))
            context.finding("compute.no_kernels", Outcome.FAILED, architecture=architecture, **facts)
        _integrated_first(context, message)
    return {"device_name": facts["device_name"], "gfx": facts["gfx"]}


def _integrated_first(context: StageContext, message: dict[str, Any]) -> None:
    devices, index = message.get("devices") or [], message.get("index")
    if not isinstance(index, int) or not 0 <= index < len(devices) or not devices[index].get("integrated"):
        return
    dedicated = [number for number, device in enumerate(devices) if not device.get("integrated")]
    if dedicated:
        own, other = devices[index], devices[dedicated[0]]
        context.finding(
            "compute.integrated_first",
            Outcome.WARNING,
            device=message.get("device"),
            integrated=own.get("name"),
            dedicated=other.get("name"),
            dedicated_index=dedicated[0],
        )


def _dotted(capability: Any) -> str:
    return ".".join(str(part) for part in capability) if isinstance(capability, list) else "?"
