import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.audio.ring import FrameRing


def numbered(start: int, count: int) -> np.ndarray:
    return np.arange(start, start + count, dtype=np.float32)


@given(capacity=st.integers(1, 40), moves=st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=60))
def test_what_goes_in_comes_out_once_and_in_order(capacity: int, moves: Sequence[tuple[bool, int]]) -> None:
    ring = FrameRing(capacity)
    offered = taken = dropped = 0
    expected: list[float] = []
    received: list[float] = []
    for is_write, count in moves:
        if is_write:
            frames = numbered(offered, count)
            kept = ring.write(frames)
            assert kept == min(count, capacity - (taken - len(received)))
            expected += frames[:kept].tolist()
            taken += kept
            dropped += count - kept
            offered += count
        else:
            out = np.full(count, -1, np.float32)
            got = ring.read_into(out)
            assert np.all(out[got:] == -1)
            received += out[:got].tolist()
        assert ring.queued + ring.free == capacity
        assert (ring.written, ring.read) == (taken, len(received))
    out = np.empty(capacity, np.float32)
    received += out[: ring.read_into(out)].tolist()
    assert received == expected
    assert offered == len(received) + dropped


def test_reads_into_one_channel_of_many() -> None:
    ring = FrameRing(8)
    ring.write(numbered(1, 3))
    block = np.zeros((4, 2), np.float32)
    assert ring.read_into(block[:, 0]) == 3
    assert block.tolist() == [[1, 0], [2, 0], [3, 0], [0, 0]]


def test_two_threads_lose_and_repeat_nothing() -> None:
    ring, total = FrameRing(700), 200_000

    def produce() -> None:
        random = np.random.default_rng(7)
        sent = 0
        while sent < total:
            size = min(total - sent, int(random.integers(1, 2000)))
            sent += ring.write(numbered(sent, size), timeout=10)

    producer = threading.Thread(target=produce)
    producer.start()
    out, at = np.empty(512, np.float32), 0
    deadline = time.monotonic() + 30
    while at < total and time.monotonic() < deadline:
        got = ring.read_into(out)
        assert np.array_equal(out[:got], numbered(at, got))
        at += got
    producer.join(10)
    assert at == total


def test_write_gives_up_after_its_timeout_with_what_fitted() -> None:
    ring = FrameRing(10)
    began = time.monotonic()
    assert ring.write(numbered(0, 25), timeout=0.05) == 10
    assert 0.05 <= time.monotonic() - began < 2


def test_close_wakes_a_waiting_producer() -> None:
    ring = FrameRing(1)
    results: list[int] = []
    producer = threading.Thread(target=lambda: results.append(ring.write(numbered(0, 5), timeout=60)))
    producer.start()
    while ring.queued == 0:
        time.sleep(0.001)
    ring.close()
    producer.join(5)
    assert results == [1]
    assert ring.write(numbered(0, 1)) == 0


def test_a_ring_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        FrameRing(0)
