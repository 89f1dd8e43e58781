"""What all tests share: property tests are judged by what they assert, not by the computer's load or its float mode."""

import os
import sys

from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # Two workers with two threads each on two cores wait for each other; children inherit it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_runtest_setup() -> None:
    """Some library behind qwen-asr was built with fast math, and loading it makes tiny floats zero for everybody."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_flush_denormal(False)
