"""When queued sound is played and when silence is, decided without a clock or a device of its own.

Every number here is in frames of the device's rate unless its name says otherwise. Sources: a 300 ms cushion removes
the clicks of blocks that come 150-180 ms apart (livekit/agents pull 7238); start also at the end of the stream or after
1.5 s, and raise the cushion after each shortage (Open-LLM-VTuber-Web pull 32).
"""

from dataclasses import dataclass
from enum import Enum

PREBUFFER_MS = 300
PREBUFFER_LIMIT_SECONDS = 1.5
REPRIME_FIRST_MS = 150
REPRIME_STEP_MS = 100
REPRIME_LIMIT_MS = 800
GAP_LOG_LENGTH = 256


@dataclass(slots=True)
class Counters:
    """What happened, in plain numbers.

    A gap is silence heard *inside* the stream, from the first missing frame until sound resumes: re-priming included.
    The wait for the first sound, silence after the last frame (even when `end` comes late) and silence after the end do
    not count. Hence `starved_frames` is the sum of the lengths of all gaps.
    """

    callbacks: int = 0
    frames_played: int = 0
    starved_callbacks: int = 0
    starved_frames: int = 0
    gaps: int = 0
    longest_gap_ms: float = 0.0
    min_headroom_ms: float = 0.0
    """Least left queued after a callback, from the first sound to the end message; 0 when nothing was played."""
    reprimes: int = 0
    host_underflow_flags: int = 0
    """Callbacks that the host API flagged; not reliable on every one (python-sounddevice issue 64)."""


class _State(Enum):
    PRIMING = 0
    PLAYING = 1
    GAP = 2
    DRAINED = 3


class PlaybackPolicy:
    """Asked once a callback: how many of the `queued` frames go into the `wanted` ones? The rest is silence."""

    def __init__(self, rate: int) -> None:
        self.counters = Counters()
        self.resumed = False
        """The last `take` ended a gap: its first frame follows silence."""
        self.ran_short = False
        """The last `take` began a gap: its last frame is followed by silence that nobody wrote."""
        self.gap_starts = [0] * GAP_LOG_LENGTH
        """Stream positions of the gaps, in frames; gap `n` (from 0) is at `n % GAP_LOG_LENGTH`."""
        self.gap_lengths = [0] * GAP_LOG_LENGTH
        self._rate = rate
        self._state = _State.PRIMING
        self._target = self._frames(PREBUFFER_MS)
        self._waiting_since: float | None = None
        self._gap_frames = 0
        self._gap_callbacks = 0
        self._headroom_known = False

    @property
    def drained(self) -> bool:
        """The stream has ended and its last frame was handed out, or it was cut."""
        return self._state is _State.DRAINED

    @property
    def open_gap_ms(self) -> float:
        """Length so far of the gap that goes on now; becomes a counted gap when sound resumes."""
        return self._gap_frames * 1000 / self._rate

    def take(self, queued: int, wanted: int, ended: bool, now: float) -> int:
        """Frames to play of `wanted`; `ended`: no frame will be queued any more; `now`: seconds on a steady clock."""
        self.counters.callbacks += 1
        self.resumed = self.ran_short = False
        if self._state is not _State.PLAYING and not self._start(queued, wanted, ended, now):
            return 0
        played = min(queued, wanted)
        self.counters.frames_played += played
        if played < wanted and not ended:
            self._begin_gap(wanted - played)
        elif ended and played == queued:
            self._state = _State.DRAINED
        if self._state is _State.PLAYING or not self._headroom_known:
            self._note_headroom(queued - played, ended)
        return played

    def close(self) -> None:
        """The stream is cut here: a gap that goes on is counted with its length so far, nothing more is played."""
        if self._state is _State.GAP:
            self._count_gap()
        self._state = _State.DRAINED

    def _start(self, queued: int, wanted: int, ended: bool, now: float) -> bool:
        """Whether sound starts (again) with this callback."""
        if self._state is _State.DRAINED:
            return False
        if queued and self._waiting_since is None:
            self._waiting_since = now
        waited = now - self._waiting_since if self._waiting_since is not None else 0.0
        if ended and not queued:
            self._drop_gap()
            self._state = _State.DRAINED
            return False
        if not (queued >= self._target or ended or waited >= PREBUFFER_LIMIT_SECONDS):
            if self._state is _State.GAP:
                self._gap_frames += wanted
                self._gap_callbacks += 1
            return False
        if self._state is _State.GAP:
            self._count_gap()
            self.counters.reprimes += 1
            self.resumed = True
        self._state = _State.PLAYING
        self._waiting_since = None
        return True

    def _begin_gap(self, missing: int) -> None:
        self._state = _State.GAP
        self.ran_short = True
        self._gap_frames = missing
        self._gap_callbacks = 1
        cushion = REPRIME_FIRST_MS + REPRIME_STEP_MS * self.counters.reprimes
        self._target = self._frames(min(cushion, REPRIME_LIMIT_MS))

    def _count_gap(self) -> None:
        counters = self.counters
        slot = counters.gaps % GAP_LOG_LENGTH
        self.gap_starts[slot] = counters.frames_played
        self.gap_lengths[slot] = self._gap_frames
        counters.starved_frames += self._gap_frames
        counters.starved_callbacks += self._gap_callbacks
        counters.longest_gap_ms = max(counters.longest_gap_ms, self.open_gap_ms)
        counters.min_headroom_ms = 0.0
        counters.gaps += 1
        self._drop_gap()

    def _drop_gap(self) -> None:
        self._gap_frames = self._gap_callbacks = 0

    def _note_headroom(self, left: int, ended: bool) -> None:
        """The first callback with sound always counts, later ones only while more may come."""
        headroom = left * 1000 / self._rate
        if not self._headroom_known:
            self.counters.min_headroom_ms = headroom
            self._headroom_known = True
        elif not ended:
            self.counters.min_headroom_ms = min(self.counters.min_headroom_ms, headroom)

    def _frames(self, milliseconds: int) -> int:
        return milliseconds * self._rate // 1000
