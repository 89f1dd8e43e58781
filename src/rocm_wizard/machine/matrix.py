"""Which GPU an adapter is, and what AMD says about it for one ROCm release. The data: `assets/gpu_matrix.toml`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rocm_wizard.machine.adapters import Adapter
from rocm_wizard.machine.profiles import Profile


class Status(StrEnum):
    """What a release says about a GPU, best first. Nothing but `listed` is ever called supported."""

    LISTED = "listed"
    NOT_LISTED = "not_listed_kernels_present"
    DISPUTED = "disputed"
    UNKNOWN = "unknown"
    NOT_USABLE = "not_usable"

    @property
    def rank(self) -> int:
        """0 is best."""
        return list(Status).index(self)

    @property
    def usable(self) -> bool:
        """Whether kernels are there or may be."""
        return self in (Status.LISTED, Status.NOT_LISTED, Status.DISPUTED)


@dataclass(frozen=True, slots=True)
class Product:
    """A card, or a processor with a GPU. `pci` entries are `DEVICE` or `DEVICE:REVISION`, upper case."""

    id: str
    name: str
    gfx: str
    family: str
    kind: str
    pci: tuple[str, ...]
    names: tuple[str, ...]
    confidence: str
    sources: tuple[str, ...]
    cpu: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """What one ROCm release demands and lists on one platform. `listed`: product id to confidence."""

    rocm: str
    platform: str
    driver: str
    windows_build: int
    gfx: tuple[str, ...]
    listed: Mapping[str, str]
    disputed_gfx: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """The products that an adapter may be; none: it is not in the matrix."""

    products: tuple[Product, ...] = ()

    def _common(self, values: Iterable[str]) -> str | None:
        return " or ".join(dict.fromkeys(values)) or None

    @property
    def name(self) -> str | None:
        """The product's name, or all names that fit."""
        return self._common(product.name for product in self.products)

    @property
    def gfx(self) -> str | None:
        """The instruction set."""
        return self._common(product.gfx for product in self.products)

    @property
    def family(self) -> str | None:
        """RDNA4, RDNA3, ..."""
        return self._common(product.family for product in self.products)

    @property
    def integrated(self) -> bool:
        """Whether it is part of a processor. False for what is not known."""
        return any(product.kind == "integrated" for product in self.products)


@dataclass(frozen=True, slots=True)
class GpuMatrix:
    """All products and releases."""

    products: tuple[Product, ...]
    releases: tuple[Release, ...]
    sources: Mapping[str, str] = field(default_factory=dict[str, str])

    def find(self, adapter: Adapter, cpu: str | None) -> Match:
        """The products an AMD adapter may be: device id first, then name, revision and processor where they decide."""
        if adapter.vendor != "amd" or adapter.bus != "pci":
            return Match()
        device = adapter.device_id.upper()
        by_name = [product for product in self.products if _any(product.names, adapter.name)]
        same_device = [p for p in self.products if any(entry.partition(":")[0] == device for entry in p.pci)]
        pool = _first_filled([p for p in same_device if p in by_name], same_device, by_name)
        exact = f"{device}:{adapter.revision}"
        return Match(tuple(_by_cpu(_first_filled([p for p in pool if exact in p.pci], pool), cpu)))

    def release_of(self, profile: Profile, platform: str) -> Release | None:
        """The release that a profile's `rocm` package belongs to."""
        rocm = profile.packages.get("rocm")
        return next((one for one in self.releases if (one.rocm, one.platform) == (rocm, platform)), None)


def status_of(match: Match, release: Release) -> Status:
    """The weakest status of the products that an adapter may be."""
    return max((_status(product, release) for product in match.products), key=lambda s: s.rank, default=Status.UNKNOWN)


def _status(product: Product, release: Release) -> Status:
    if product.id in release.listed:
        return Status.LISTED
    if product.gfx in release.gfx:
        return Status.NOT_LISTED
    return Status.DISPUTED if product.gfx in release.disputed_gfx else Status.NOT_USABLE


def _first_filled(*choices: list[Product]) -> list[Product]:
    return next((choice for choice in choices if choice), [])


def _any(patterns: Iterable[str], text: str | None) -> bool:
    plain = " ".join(re.sub(r"\((tm|r)\)|®|™", " ", text or "", flags=re.IGNORECASE).split())
    return bool(plain) and any(re.search(pattern, plain, re.IGNORECASE) for pattern in patterns)


def _by_cpu(products: list[Product], cpu: str | None) -> list[Product]:
    """AMD lists integrated GPUs by processor: a named processor decides, another one leaves the unnamed rest."""
    if not cpu or not any(product.cpu for product in products):
        return products
    named = [product for product in products if _any(product.cpu, cpu)]
    return named or [product for product in products if not product.cpu] or products


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


def gpu_matrix(data: Mapping[str, Any]) -> GpuMatrix:
    """The matrix from the file's content.

    Raises:
        KeyError, TypeError, ValueError: an entry is wrong.
    """
    products = tuple(Product(**_tuples(entry)) for entry in data["product"])
    releases = tuple(Release(**_tuples(entry)) for entry in data["release"])
    known = {product.id for product in products}
    if len(known) != len(products):
        raise ValueError("two products have the same id")
    for release in releases:
        if missing := set(release.listed) - known:
            raise ValueError(f"release {release.rocm} lists unknown products {sorted(missing)}")
    return GpuMatrix(products, releases, data.get("source", {}))
