"""Where the data files are: `assets/` inside the installed wheel, or at the root of a source checkout."""

from functools import cache
from pathlib import Path


@cache
def assets_root() -> Path:
    """The folder that holds `profiles.toml` and its neighbours.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "assets", package.parent.parent / "assets"):
        if (candidate / "profiles.toml").is_file():
            return candidate
    raise FileNotFoundError("rocm-wizard's assets folder is missing: install the package again")


def asset(*parts: str) -> Path:
    """The path of one data file, whether or not it exists."""
    return assets_root().joinpath(*parts)
