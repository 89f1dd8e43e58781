"""The reader of a child's stdout keeps what it holds in bounds while nobody takes its lines."""

import io
import time

from rocm_wizard.runner.streams import StdoutReader

MOST_LINES = 600_000
"""64 MiB divided by what a line without a letter costs, with room to spare."""


class Endless(io.RawIOBase):
    """Line ends without an end, counted."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview", /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.closed:
            return 0
        buffer[:] = b"\n" * len(buffer)
        self.given += len(buffer)
        return len(buffer)


def test_empty_lines_are_not_free() -> None:
    stream = Endless()
    reader = StdoutReader(io.BufferedReader(stream, 65536), 2**20)
    reader.start()
    before = -1
    while stream.given != before:
        before = stream.given
        time.sleep(0.5)
    assert 65536 < stream.given < MOST_LINES
    taken = reader.get(1.0)
    assert taken is not None and taken.data == b""
    stream.close()
    while reader.is_alive():
        while reader.get(1.0) is not None:
            pass
        reader.join(0.1)
