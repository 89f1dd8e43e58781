"""Another child that says it runs on ROCm: `python on_a_gpu.py JSON SCRIPT ARGUMENTS...`. Standard library only.

JSON: says (bytes that every answer says are held on the device), kfd (folder in which the compute driver would tell
what this process holds; the child enters itself with `holds` bytes once it is ready), used (file in which amdgpu would
tell what is in use; the child writes `while_speaking` there before each block and `done` before its `done`).
"""

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(sys.argv[1])


class Wire:
    """stdout, on which messages are changed as they pass."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def write(self, text: str) -> int:
        """Takes whole messages, with or without their newline."""
        if text.startswith("{"):
            message = json.loads(text)
            if message["type"] == "ready":
                message |= {"device": "cuda:0", "hip": "7.2.1", "cuda_available": True, "attn_impl": "eager"}
                enter()
            elif message["type"] in ("result", "done") and "says" in SCRIPT:
                message["device_memory_bytes"] = SCRIPT["says"]
            if "used" in SCRIPT and message["type"] in ("chunk", "done"):
                in_use = SCRIPT["while_speaking" if message["type"] == "chunk" else "done"]
                Path(SCRIPT["used"]).write_text(f"{in_use}\n", encoding="ascii")
            text = json.dumps(message) + text[len(text.rstrip("\n")) :]
        return self._out.write(text)

    def flush(self) -> None:
        """Passes it on."""
        self._out.flush()


def enter() -> None:
    """Where the driver would list the process."""
    if "kfd" in SCRIPT:
        folder = Path(SCRIPT["kfd"]) / str(os.getpid())
        folder.mkdir(parents=True)
        (folder / "vram_4711").write_text(f"{SCRIPT['holds']}\n", encoding="ascii")


if __name__ == "__main__":
    sys.stdout = Wire(sys.stdout)
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
