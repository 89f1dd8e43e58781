"""The protocol's writer where nobody reads."""

import errno
import io

import pytest

from rocm_wizard.speech.guard import ProtocolWriter


class Closed(io.RawIOBase):
    """A pipe whose reader has gone, as this system says it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        raise OSError(self.number, "no")


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EINVAL])
def test_a_closed_pipe_is_one_on_every_system(number: int) -> None:
    """Linux says EPIPE, Windows EINVAL."""
    with pytest.raises(BrokenPipeError):
        ProtocolWriter(io.BufferedWriter(Closed(number))).send({"type": "done"})


def test_a_full_disk_is_no_closed_pipe() -> None:
    with pytest.raises(OSError, match="no") as caught:
        ProtocolWriter(io.BufferedWriter(Closed(errno.ENOSPC))).send({"type": "done"})
    assert not isinstance(caught.value, BrokenPipeError)
