"""A real PulseAudio for tests: two null sinks instead of a sound card, all of its files under one folder.

`vspk` is 48 kHz stereo 16-bit (the default), `v24` is 24 kHz mono 16-bit. PortAudio lists both by name through ALSA's
`pulse` plugin. Every sink has a monitor, so what a child played can be recorded and compared.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

TOOLS = ("pulseaudio", "pactl", "parec")
SINKS = {"vspk": (48_000, 2), "v24": (24_000, 1)}
_SOCKET_PATH_LIMIT = 100  # sun_path holds 108 bytes on Linux
_ALSA_DEFINITIONS = "/usr/share/alsa/alsa.conf"


def missing_tools() -> list[str]:
    """The programs this module needs that are not on PATH."""
    return [name for name in TOOLS if shutil.which(name) is None]


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 10.0) -> None:
    """Polls every 10 ms; raises TimeoutError naming `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.01)


@dataclass
class Capture:
    """What a sink's monitor gave. The arrays are filled when the `capture()` block ends."""

    sink: str
    rate: int
    channels: int
    samples: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    """First channel, shape (frames,), on the 16-bit grid (n / 32768)."""
    frames: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 1), np.float32))
    """All channels, shape (frames, channels)."""


class PulseServer:
    """One server. `start()` raises RuntimeError with the server's own words when it does not come up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._short: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._modules: dict[str, str] = {}
        self._sinks = dict(SINKS)
        self.environment: dict[str, str] = {}

    def start(self) -> None:
        runtime = self._runtime_folder()
        self.environment = self._make_environment(runtime)
        script = self.folder / "server.pa"
        lines = [f"load-module module-native-protocol-unix auth-anonymous=1 socket={runtime / 'native'}"]
        for name, (rate, channels) in SINKS.items():
            lines.append(" ".join(["load-module", *_null_sink(name, rate, channels)]))
        script.write_text("\n".join([*lines, "set-default-sink vspk", ""]), encoding="utf-8")
        argv = ["pulseaudio", "-n", "--disable-shm=yes", "--daemonize=no", "--exit-idle-time=-1", "-F", str(script)]
        with (self.folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **self.environment}
            )
        try:
            wait_until(self._answers, "pulseaudio answers")
        except (TimeoutError, RuntimeError) as error:
            self.stop()
            log_text = (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")
            raise RuntimeError(f"{error}\n{log_text}") from error
        self._modules = self._sink_modules()

    def stop(self) -> None:
        """Ends the server; safe to call twice."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(5)
            self._process = None
        if self._short is not None:
            shutil.rmtree(self._short, ignore_errors=True)
            self._short = None

    def __enter__(self) -> "PulseServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def unplug(self, sink: str) -> None:
        """Takes the sink away while it may be playing: the pulled USB headset.

        The server moves its streams to another sink while there is one; only with the last one gone is a stream cut.
        """
        self._pactl("unload-module", self._modules.pop(sink))

    def child_environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """A whole environment for a child: `base` (this process's by default) with this server in it."""
        return {**(os.environ if base is None else base), **self.environment}

    def plug_in(self, sink: str, rate: int, channels: int) -> None:
        """Adds a sink that is the default from now on: the headset that was plugged in."""
        self._modules[sink] = self._pactl("load-module", *_null_sink(sink, rate, channels)).strip()
        self._sinks[sink] = (rate, channels)
        self._pactl("set-default-sink", sink)

    def streams(self, kind: str) -> list[str]:
        """The server's `sink-inputs` (who plays) or `source-outputs` (who records), a line each."""
        return self._pactl("list", "short", kind).splitlines()

    @contextlib.contextmanager
    def capture(self, sink: str = "vspk", tail_seconds: float = 0.3) -> Iterator[Capture]:
        """Records the sink's monitor from before the block until `tail_seconds` of sound after it."""
        rate, channels = self._sinks[sink]
        raw = self.folder / f"capture-{sink}-{time.monotonic_ns()}.raw"
        argv = [
            "parec", f"--device={sink}.monitor", "--format=s16le", f"--rate={rate}", f"--channels={channels}",
            "--latency-msec=20", "--raw",
        ]  # fmt: skip
        result = Capture(sink, rate, channels)
        with raw.open("wb") as output:
            recorder = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, env=self.child_environment()
            )
        size = lambda: raw.stat().st_size  # noqa: E731
        try:
            wait_until(lambda: size() > 0, f"parec records {sink}")
            yield result
            # A monitor of a sink that is gone gives nothing more: then what is there is all there is.
            wanted = size() + int(tail_seconds * rate) * channels * 2
            wait_until(lambda: size() >= wanted or recorder.poll() is not None, "the capture's tail")
        finally:
            recorder.terminate()
            recorder.wait(5)
        pcm = np.fromfile(raw, "<i2")
        result.frames = (pcm[: pcm.size // channels * channels].reshape(-1, channels) / 32768).astype(np.float32)
        result.samples = np.ascontiguousarray(result.frames[:, 0])
        raw.unlink()

    def _runtime_folder(self) -> Path:
        runtime = self.folder / "runtime"
        if len(str(runtime / "native").encode()) > _SOCKET_PATH_LIMIT or not _alsa_can_name(runtime):
            runtime = self._short = Path(tempfile.mkdtemp(prefix="pulse-"))
        runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        return runtime

    def _make_environment(self, runtime: Path) -> dict[str, str]:
        alsa = runtime / "asound.conf"
        named = [f'pcm.{name} {{ type pulse device "{name}" hint {{ show on }} }}' for name in SINKS]
        text = [f"<{_ALSA_DEFINITIONS}>", "pcm.!default { type pulse }", "ctl.!default { type pulse }", *named, ""]
        alsa.write_text("\n".join(text), encoding="utf-8")
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_RUNTIME_DIR": str(runtime),
            "PULSE_RUNTIME_PATH": str(runtime),
            "PULSE_SERVER": f"unix:{runtime / 'native'}",
            "ALSA_CONFIG_PATH": str(alsa),
        }

    def _answers(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            raise RuntimeError(f"pulseaudio ended with {self._process.returncode}")
        return Path(self.environment["PULSE_RUNTIME_PATH"], "native").exists() and "v24" in self._sink_modules()

    def _sink_modules(self) -> dict[str, str]:
        """Sink name -> index of the module that made it."""
        modules: dict[str, str] = {}
        for line in self._pactl("list", "short", "modules", check=False).splitlines():
            index, _, rest = line.partition("\t")
            for name in SINKS:
                if f"sink_name={name} " in rest:
                    modules[name] = index
        return modules

    def _pactl(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["pactl", *arguments], capture_output=True, text=True, encoding="utf-8", timeout=10, check=check,
            env=self.child_environment(), stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout


def _null_sink(name: str, rate: int, channels: int) -> list[str]:
    """The module and its arguments. Without norewinds a null sink rewrites what its monitor already handed out: no
    capture is exact."""
    return [
        "module-null-sink", f"sink_name={name}", f"rate={rate}", f"channels={channels}", "format=s16le", "norewinds=1",
        f"sink_properties=device.description={name}",
    ]  # fmt: skip


def silent_environment(folder: Path) -> dict[str, str]:
    """An environment in which no sound device exists: no server to reach and an ALSA that knows no card.

    ALSA's own definitions stay: where it can read none at all, PortAudio 19.6 aborts the process (SIGABRT).
    Raises ValueError for a folder that ALSA cannot name.
    """
    if not _alsa_can_name(folder):
        raise ValueError(f"ALSA_CONFIG_PATH is split at blanks and colons: {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    empty = folder / "no-asound.conf"
    empty.write_text(f"<{_ALSA_DEFINITIONS}>\n", encoding="utf-8")
    return {
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "PULSE_RUNTIME_PATH": str(folder),
        "PULSE_SERVER": f"unix:{folder / 'nobody'}",
        "ALSA_CONFIG_PATH": str(empty),
    }


def _alsa_can_name(path: Path) -> bool:
    return not set(" :\t\n") & set(str(path))


def require_tools() -> None:
    """Skips the test where PulseAudio is not installed; in CI that is an error instead."""
    missing = missing_tools()
    if missing and os.environ.get("CI"):
        raise RuntimeError(f"CI needs {', '.join(missing)} (Debian: pulseaudio pulseaudio-utils libasound2-plugins)")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@dataclass(frozen=True)
class Match:
    """Where `align` found the sent samples in a capture."""

    offset: int
    correlation: float
    """1.0 for an exact copy, whatever its loudness."""
    largest_difference: float
    """In steps of 16 bit, at that offset."""


def align(captured: NDArray[np.float32], sent: NDArray[np.float32]) -> Match:
    """Best place of `sent` inside `captured`, both at one rate; ValueError when the capture is the shorter one."""
    if len(captured) < len(sent):
        raise ValueError(f"captured {len(captured)} frames of {len(sent)}")
    size = 1 << (len(captured) + len(sent)).bit_length()
    spectrum = np.fft.rfft(captured, size) * np.conj(np.fft.rfft(sent, size))
    products = np.fft.irfft(spectrum, size)[: len(captured) - len(sent) + 1]
    offset = int(np.argmax(products))
    part = captured[offset : offset + len(sent)].astype(np.float64)
    scale = float(np.linalg.norm(part) * np.linalg.norm(sent)) or 1.0
    difference = float(np.abs(part - sent).max() * 32768)
    return Match(offset, float(part @ sent) / scale, difference)
