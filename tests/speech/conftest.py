"""One ASR and one TTS sidecar for the tests that only ask them something."""

from collections.abc import Iterator

import pytest

from tests.speech.speech_child import ASR, TTS, Child


@pytest.fixture(scope="session")
def asr() -> Iterator[Child]:
    """A ready ASR sidecar on the CPU."""
    with Child([*ASR, "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        yield child


@pytest.fixture(scope="session")
def tts() -> Iterator[Child]:
    """A ready TTS sidecar on the CPU."""
    with Child([*TTS, "--device", "cpu"]) as child:
        assert child.receive()["type"] == "ready"
        yield child
