"""rocm-wizard: tells, with evidence, whether this computer can run local voice on its AMD GPU."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("rocm-wizard")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
