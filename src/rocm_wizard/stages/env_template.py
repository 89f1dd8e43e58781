"""What the `.env` step wants, and what it takes for nobody's decision."""

from functools import cache
from pathlib import Path

from rocm_wizard.assets import asset
from rocm_wizard.envfile import Document, EnvCatalogue, EnvFileError, load_catalogue, read_values, take_snapshot

EXAMPLE = ".env.example"


@cache
def catalogue() -> EnvCatalogue:
    """The host's voice keys."""
    return load_catalogue(asset("env_catalogue.toml"))


def template_values(path: Path) -> dict[str, str]:
    """The keys and values of a template, in its order; nothing of this computer's environment goes into them.

    Raises:
        OSError, EnvFileError: it is missing or is no `.env`.
    """
    document = Document.parse(path.read_bytes(), path)
    return {key: value or "" for key, value in read_values(document, {}).items()}


def example_values(checkout: Path | None) -> dict[str, str]:
    """The defaults that the checkout's `.env.example` ships: a file that still has them was not decided on by anybody.

    An example that is missing or cannot be read decides nothing.
    """
    if checkout is None:
        return {}
    try:
        document = take_snapshot(checkout / EXAMPLE).document
        return {key: value for key, value in read_values(document, {}).items() if value is not None}
    except EnvFileError:
        return {}


def example_keys(checkout: Path | None) -> frozenset[str]:
    """Every key that the checkout's example knows, commented ones too."""
    if checkout is None:
        return frozenset()
    try:
        document = take_snapshot(checkout / EXAMPLE).document
    except EnvFileError:
        return frozenset()
    return frozenset((*document.assignments, *document.examples))
