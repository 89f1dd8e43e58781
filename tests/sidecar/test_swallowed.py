"""Hidden failures and stage times, as the host project's sidecar shows them."""

import numpy as np
import pytest

from rocm_wizard.sidecar.client import Block
from rocm_wizard.sidecar.messages import Chunk
from rocm_wizard.sidecar.stage_times import BlockTimes, blocks_computed, times_from_log, times_from_messages
from rocm_wizard.sidecar.swallowed import swallowed_failure


def block(samples: int, value: float = 0.0, **timing: float) -> Block:
    return Block(0, Chunk(24000, np.full(samples, value, np.float32), "", timing), 0.1)


SPEECH = block(19200, 0.1)


@pytest.mark.parametrize(
    ("last", "pause", "hidden"),
    [
        (block(7200), 0.3, False),
        (block(9600), 0.4, False),
        (block(16000), 0.3, True),
        (block(16000), None, True),
        (block(16000), 16000 / 24000, False),
        (block(7200), 0.4, True),
        (block(7200, 0.1), 0.3, True),
        (SPEECH, None, False),
        (SPEECH, 0.0, False),
        (SPEECH, 0.3, True),
    ],
)
def test_the_last_block_shows_a_hidden_failure(last: Block, pause: float | None, hidden: bool) -> None:
    assert (swallowed_failure([SPEECH.chunk, last.chunk], [], pause) is not None) is hidden


def test_the_log_line_is_told_without_its_prefix() -> None:
    line = "2026-01-01 10:00:00,000 - ERROR - streaming inference failed: HIP error: unspecified launch failure"
    found = swallowed_failure([SPEECH.chunk, block(7200).chunk], ["loading", line], 0.3)
    assert found == "streaming inference failed: HIP error: unspecified launch failure"


def test_times_of_our_engine() -> None:
    blocks = [block(10, cfm_ms=80.5, bigvgan_ms=20.25, mel_frames=75), block(10)]
    times = times_from_messages(blocks, {"type": "done", "t2s_ms": 300.0, "t2s_tokens": 60, "cfm_ms": True})
    assert times is not None
    assert times.blocks == (BlockTimes(80.5, 20.25, 75),)
    assert times.totals == {"t2s_ms": 300.0, "t2s_tokens": 60.0}
    assert times_from_messages([block(10)], {"type": "done"}) is None


def test_times_of_the_host_projects_log() -> None:
    lines = [
        "2026-01-01 10:00:00,000 - INFO - [v3-stream] chunk=0 cfm=81.5ms denorm=0.1ms bigvgan=20.5ms mel_T=75",
        "2026-01-01 10:00:00,100 - INFO - [v3-stream] chunk=1 cfm=80.5ms denorm=0.1ms bigvgan=19.5ms mel_T=80",
        "2026-01-01 10:00:00,200 - INFO - [v3-stream] chunk=2 mel_T=75",
        "[t2s] tokens=62 elapsed=0.310s speed=200 it/s attempts=1",
        "[sovits-timing] cfm=10.0ms  denorm=0.0ms  bigvgan=5.0ms  mel_T=100",
    ]
    times = times_from_log(lines)
    assert times is not None
    assert [one.mel_frames for one in times.blocks] == [75, 80, 100]
    assert times.totals == {"cfm_ms": 172.0, "bigvgan_ms": 45.0, "t2s_ms": 310.0, "t2s_tokens": 62.0}
    assert blocks_computed(lines) == 3, "timed or not; what is not streamed is no block"
    assert blocks_computed([*lines, *lines]) == 3, "another item's blocks are counted from 0 again"
    assert blocks_computed(["[v3-stream] enable true streaming: mel_chunk=38 (default=466, target_frames=38)"]) == 0
    assert blocks_computed(["[v3-stream] chunk=0 mel_T=x", "[v3-stream] chunk=1 mel_T=1234567890"]) == 0
    assert times_from_log(["[v3-stream] chunk=0 cfm=...ms denorm=xms bigvgan=1.2.3ms mel_T=1"]) is None
