"""The vocoder-shaped stack: its lengths, and how far padding reaches."""

import pytest
import torch

from rocm_wizard.probes.compute_operations.prepared import normal
from rocm_wizard.probes.compute_operations.vocoder import HOP, Stack, receptive_frames, vocoder


@pytest.fixture(scope="module")
def stack() -> Stack:
    """A narrow one on the CPU."""
    return Stack(torch, "cpu", torch.float32, 16)


def test_it_makes_256_samples_a_frame(stack: Stack) -> None:
    assert HOP == 256
    for frames in (33, 80):
        samples = stack(normal(torch, 1, 1, 100, frames))
        assert samples.shape == (frames * HOP,)
        assert 0.05 < float(samples.std()) < 1.0, "neither silence nor full scale"


def test_the_stated_reach_is_the_real_one() -> None:
    """Nothing before the reach hears a changed frame, and something near its edge does."""
    stack = Stack(torch, "cpu", torch.float64, 64)
    mel = normal(torch, 2, 1, 100, 80).double()
    changed = mel.clone()
    changed[:, :, 60:] += 5.0
    differing = (stack(mel) != stack(changed)).nonzero().flatten()
    reach = 60 - int(differing[0]) / HOP
    assert receptive_frames() - 2 <= reach <= receptive_frames()


def report(options: dict[str, object]) -> list[dict[str, object]]:
    """What the operation says."""
    said: list[dict[str, object]] = []
    vocoder(torch, "cpu", options, lambda kind, **fields: said.append({"type": kind, **fields}))
    return said


OPTIONS: dict[str, object] = {
    "bucket": 80,
    "lengths": [33, 75, 80],
    "channels": {"cpu": 16, "other": 1536},
    "tolerance": 1e-3,
}


def test_every_length_is_reported_both_ways_and_agrees_out_of_reach() -> None:
    said = report(OPTIONS)
    for kind in ("vocoder_length", "vocoder_padded"):
        assert [message["mels"] for message in said if message["type"] == kind] == [33, 75, 80]
    last = said[-1]
    assert last["max_error"] == pytest.approx(0.0, abs=1e-5)
    assert (last["not_finite"], last["receptive_frames"], last["channels"]) == (0, 27, 16)
    assert isinstance(last["frames_differ"], int) and 1 <= last["frames_differ"] <= 27


def test_a_length_that_is_computed_wrongly_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A convolution that is wrong at 75 frames only, in its first sample: far from what the padding can reach."""
    right = torch.nn.functional.conv1d

    def wrong(signal: torch.Tensor, *args: object, **kwargs: object) -> torch.Tensor:
        result = right(signal, *args, **kwargs)  # pyright: ignore[reportArgumentType, reportCallIssue]
        if signal.shape[2] == 75:
            result[:, :, 0] += 1.0
        return result

    monkeypatch.setattr(torch.nn.functional, "conv1d", wrong)
    assert float(str(report(OPTIONS)[-1]["max_error"])) > 1e-2


def test_nan_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "tanh", lambda x: x * float("nan"))
    last = report(OPTIONS | {"lengths": [33]})[-1]
    assert last["not_finite"] == 33 * HOP
    assert last["max_error"] == 1e308
