"""What the host project allows its sidecars (`docs/wire.md`, "Limits of the host"). It has no limits for the voice."""

HOST_READY_SECONDS = 120.0
"""From the start of the recogniser to its `ready`."""
HOST_ANSWER_SECONDS = 30.0
"""From a request to the recogniser's answer; then the host takes none."""
STDERR_LIMIT = 4096
"""Bytes of stderr before `ready`, or during one request: the host never reads the recogniser's, and a pipe of Windows
holds no more."""
