"""Device memory over one stage: from the engines where they say it, else from the system; which one is always told."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocm_wizard.machine.device_memory import DeviceUse, device_use
from rocm_wizard.machine.fitness import Candidate, fitness_of
from rocm_wizard.machine.knowledge import load_knowledge
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.messages import device_memory
from rocm_wizard.stages.session import Session

SOURCES = ("engine", "processes", "device")
"""Best first: both sidecars say what they hold; the system tells it of them and all they started; the system tells
only the whole device, other programs included."""


class DeviceMeter:
    """Readings of one stage. The first source that answers stays: two of them in one series would look like a leak.

    Attributes:
        asks: whether the profile has a device of its own; on others the system is never asked.
        source: one of `SOURCES`; None as long as nothing was read.
    """

    def __init__(self, session: Session) -> None:
        self.asks = session.chosen.device_kind in ("hip", "cuda")
        self.source: str | None = None
        self._session = session
        self._use: DeviceUse | None = None
        self._peaks: dict[str, int] = {}
        self._candidate: Candidate | None = None
        self._looked_up = False

    def look(self, pids: Sequence[int]) -> None:
        """Asks the system, for the peak."""
        if self.asks:
            card = self._card()
            id = card.adapter.device_id if card is not None else None
            self._use = device_use(pids, self._session.chosen.device_kind, id)
        if self._use is not None:
            self._keep({"processes": self._use.processes, "device": self._use.device})

    def read(self, said: Sequence[Mapping[str, Any]], pids: Sequence[int]) -> int | None:
        """Bytes now, of all processes together (or of the whole device); `said`: a message of each sidecar."""
        self.look(pids)
        of_engines = [device_memory(message) for message in said]
        known = [held for held in of_engines if held is not None]
        use = self._use or DeviceUse(None)
        found = {
            "engine": sum(known) if len(known) == len(of_engines) else None,
            "processes": use.processes,
            "device": use.device,
        }
        self._keep(found)
        if self.source is None:
            self.source = next((source for source in SOURCES if found[source] is not None), None)
        return found[self.source] if self.source is not None else None

    def _keep(self, found: Mapping[str, int | None]) -> None:
        for source, value in found.items():
            if value is not None:
                self._peaks[source] = max(value, self._peaks.get(source, 0))

    @property
    def peak(self) -> int | None:
        """The most bytes so far, of the source that counts."""
        return self._peaks.get(self.source) if self.source is not None else None

    @property
    def total(self) -> int | None:
        """Bytes that the device has; None where that is not known or contradicts what is in use."""
        if self._use is None:
            return None
        card = self._card()
        total = self._use.total or (card.adapter.vram if card is not None else None)
        return total if total and total >= (self._use.device or 0) else None

    @property
    def share(self) -> float | None:
        """The share of the whole device in use at the last reading.

        None where the size is not known, and for an integrated GPU: when its part is full, it goes on in the
        computer's memory.
        """
        card, total = self._card(), self.total
        if self._use is None or self._use.device is None or total is None or (card and card.match.integrated):
            return None
        return self._use.device / total

    def _card(self) -> Candidate | None:
        if not self._looked_up:
            session = self._session
            self._candidate = fitness_of(session.chosen, session.machine, load_knowledge()).chosen
            self._looked_up = True
        return self._candidate

    def report(self, context: StageContext) -> None:
        """The peak, and where the number comes from; nothing where nothing was read."""
        if self.source is None or self.peak is None:
            return
        total = self.total
        context.finding(
            f"sidecar.device_memory_{self.source}",
            Outcome.PASSED,
            source=self.source,
            peak_mib=round(self.peak / 2**20),
            total_mib=round(total / 2**20) if total is not None else None,
        )
