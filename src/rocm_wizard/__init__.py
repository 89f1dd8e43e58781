"""rocm-wizard: tells, with evidence, whether this computer can run local voice on its AMD GPU."""

__version__ = "0.1.0"
