"""The npm package `dotenv` in a child process that reads many texts, installed once into a folder of the session."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

VERSION = "16.6.1"

_SCRIPT = """
const {parse} = require(process.argv[1]);
require('readline').createInterface({input: process.stdin}).on('line', line =>
  console.log(JSON.stringify(parse(Buffer.from(JSON.parse(line), 'base64').toString('utf8')))));
"""


def _missing(reason: str) -> None:
    """A skip on a person's computer; in CI the comparison has to happen."""
    if os.environ.get("CI"):
        pytest.fail(f"the comparison with Node's dotenv must run in CI: {reason}")
    pytest.skip(reason)


def install(folder: Path) -> Path:
    """The folder of the installed package, or a skip with its reason."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        _missing("node or npm is not installed")
    command = [str(npm), "install", f"dotenv@{VERSION}", "--no-audit", "--no-fund", "--ignore-scripts"]
    command += ["--prefix", str(folder), "--fetch-retries", "1", "--fetch-timeout", "20000"]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=90, check=False)
    except subprocess.TimeoutExpired:
        _missing("npm did not answer")
        raise
    if done.returncode:
        _missing(f"npm could not install dotenv: {done.stderr.strip()[-200:]}")
    return folder / "node_modules" / "dotenv"


class NodeDotenv:
    """`dotenv.parse` of one text after the other."""

    def __init__(self, package: Path) -> None:
        self._child = subprocess.Popen(
            [shutil.which("node") or "node", "-e", _SCRIPT, str(package)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> "NodeDotenv":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait(10)
        self._child.stdout.close()

    def read(self, data: bytes) -> dict[str, Any]:
        """What Node reads from these bytes."""
        import base64

        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(base64.b64encode(data).decode()) + "\n")
        self._child.stdin.flush()
        return json.loads(self._child.stdout.readline())
