"""What all tests share: no judgement by the load of the computer, its float mode or its signals."""

import os
import signal
import sys

from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # Two workers with two threads each on two cores wait for each other; children inherit it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts its background jobs so; children would inherit it and never hear Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_runtest_setup() -> None:
    """Some library behind qwen-asr was built with fast math, and loading it makes tiny floats zero for everybody."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_flush_denormal(False)
