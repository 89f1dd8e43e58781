"""Drives one of our sidecars as the host does: a child process, one JSON object a line."""

import base64
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ASR = ("-u", "-m", "rocm_wizard.speech.asr")
TTS = ("-u", "-m", "rocm_wizard.speech.tts")
LIBRIVOX = "sense_and_sensibility_01_austen_64kb"


class Child:
    """A running sidecar. Every read has a deadline; leaving the `with` block ends the process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("QWEN3_", "TTS_", "HIBARI_"))}
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**inherited, "OMP_NUM_THREADS": "2", **(environment or {})},
        )
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.stderr = b""
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_stdout, self._read_stderr)]
        for reader in self._readers:
            reader.start()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass

    def receive(self) -> dict[str, Any]:
        """The next message; every line of stdout must be one."""
        line = self.lines.get(timeout=120)
        assert line, f"the sidecar ended: {self.stderr.decode(errors='replace')}"
        assert line.isascii()
        return json.loads(line)

    def write(self, line: bytes) -> None:
        """Send one line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, **message: object) -> dict[str, Any]:
        """Send a message and return the answer's one line."""
        self.write(json.dumps(message).encode())
        return self.receive()

    def speak(self, kind: str = "infer_stream", **request: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Send a TTS request; return its chunks and its last message."""
        self.write(json.dumps({"type": kind, "request_id": "r1", "request": request}).encode())
        chunks: list[dict[str, Any]] = []
        while (message := self.receive())["type"] == "chunk":
            chunks.append(message)
        return chunks, message

    def close(self) -> int:
        """Close stdin and return the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=60)


def payload(samples: npt.ArrayLike) -> str:
    """Samples as the wire carries them."""
    return base64.b64encode(np.asarray(samples, "<f4").tobytes()).decode()


def samples_of(chunks: Sequence[Mapping[str, Any]]) -> npt.NDArray[np.float32]:
    """All chunks' samples, joined."""
    return np.concatenate([np.frombuffer(base64.b64decode(chunk["audio_b64"]), "<f4") for chunk in chunks])


def copy_package(name: str, target: Path, *, damage: str) -> None:
    """Copy an installed package and flip one byte in its file `damage`; importing the copy's top level is allowed."""
    import importlib.util
    import shutil

    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.submodule_search_locations
    shutil.copytree(Path(next(iter(spec.submodule_search_locations))), target / name)
    damaged = target / name / damage
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.unlink()
    damaged.write_bytes(content)
