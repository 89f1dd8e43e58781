"""The stages' bench, here too."""

from tests.stages.conftest import bench

__all__ = ["bench"]
