"""What the profile step says about the machine itself, whatever the profile."""

from rocm_wizard.machine.adapters import Adapter
from rocm_wizard.machine.facts import MachineFacts, WindowsFacts
from rocm_wizard.machine.knowledge import Limits
from rocm_wizard.machine.matrix import GpuMatrix
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext

_GIB = 2**30


def report_machine(context: StageContext, machine: MachineFacts, limits: Limits) -> None:
    """Processor, memory, disk, Windows, and what could not be read."""
    context.finding(
        "profile.machine",
        Outcome.PASSED,
        system=machine.system,
        release=machine.release,
        platform=machine.platform,
        cpu=machine.cpu,
        cores=machine.cores,
        memory_gib=_gib(machine.memory),
        page_file_gib=_gib(machine.page_file),
        disk_free_gib=_gib(machine.disk_free),
    )
    if machine.windows is not None:
        _report_windows(context, machine.windows)
    _report_sizes(context, machine, limits)
    if machine.unread:
        unread = [f"{what} ({why})" for what, why in sorted(machine.unread.items())]
        context.finding("profile.unread", Outcome.WARNING, unread=unread)


def _report_windows(context: StageContext, windows: WindowsFacts) -> None:
    build = f"{windows.build}.{windows.revision}" if windows.revision is not None else str(windows.build)
    facts = {"edition": windows.edition, "version": windows.version, "long_paths": windows.long_paths}
    facts |= {"smart_app_control": windows.smart_app_control, "vc_runtime": windows.vc_runtime}
    context.finding("profile.windows", Outcome.PASSED, name=windows.name, build=build, **facts)


def _report_sizes(context: StageContext, machine: MachineFacts, limits: Limits) -> None:
    memory, page_file = machine.memory, machine.page_file
    if memory is not None and memory < limits.memory:
        facts = {"memory_gib": _gib(memory), "wanted_gib": _gib(limits.memory)}
        context.finding("profile.memory_low", Outcome.WARNING, **facts)
    # Windows promises memory only up to RAM plus page file; other systems hand out more than they have.
    if machine.windows is not None and memory is not None and page_file is not None:
        commit = memory + page_file
        if commit < limits.commit:
            sizes = {"commit_gib": _gib(commit), "page_file_gib": _gib(page_file), "wanted_gib": _gib(limits.commit)}
            context.finding("profile.page_file_low", Outcome.WARNING, **sizes)
    if machine.disk_free is not None and machine.disk_free < limits.disk:
        context.finding("profile.disk_low", Outcome.WARNING, free_mib=machine.disk_free // 2**20)


def report_adapters(context: StageContext, machine: MachineFacts, matrix: GpuMatrix) -> None:
    """Every present display adapter, and the rows that removed ones left behind."""
    source = machine.adapters_source
    if machine.adapters is None:
        context.finding("profile.adapters_unread", Outcome.WARNING, source=source)
        return
    if not machine.adapters:
        context.finding("profile.no_adapter", Outcome.PASSED, source=source)
    for adapter in machine.adapters:
        _report_adapter(context, machine, adapter, matrix)
    if machine.stale_adapters:
        context.finding("profile.adapters_stale", Outcome.PASSED, names=list(machine.stale_adapters))


def _report_adapter(context: StageContext, machine: MachineFacts, adapter: Adapter, matrix: GpuMatrix) -> None:
    match = matrix.find(adapter, machine.cpu)
    context.finding(
        "profile.adapter",
        Outcome.PASSED,
        name=adapter.name or match.name or adapter.label,
        vendor=adapter.vendor,
        device=adapter.device_id,
        revision=adapter.revision,
        product=match.name,
        gfx=match.gfx,
        vram_gib=_gib(adapter.vram),
        driver=adapter.driver,
        adrenalin=adapter.adrenalin,
        attached=adapter.attached,
        problem=adapter.problem,
        source=machine.adapters_source,
    )


def _gib(size: int | None) -> float | None:
    return None if size is None else round(size / _GIB, 1)
