"""The operations by the name that an order uses."""

from collections.abc import Callable
from typing import Any

from . import attention, convolutions, normalisations, products, recurrent, spectra, transfers
from .prepared import Options, Prepared

OPERATIONS: dict[str, Callable[[Any, str, Options], Prepared]] = {
    "allocate": transfers.allocate,
    "host_to_device": transfers.host_to_device,
    "product_of_ones": products.product_of_ones,
    "product": products.product,
    "conv1d": convolutions.conv1d,
    "conv_transpose1d": convolutions.conv_transpose1d,
    "batch_norm": normalisations.batch_norm,
    "instance_norm": normalisations.instance_norm,
    "layer_norm": normalisations.layer_norm,
    "recurrent": recurrent.recurrent,
    "fft": spectra.fourier,
    "stft": spectra.stft,
    "istft": spectra.istft,
    "softmax": attention.softmax,
    "multinomial": attention.multinomial,
    "attention": attention.attention,
    "kv_cache": attention.kv_cache,
    "graph_capture": transfers.graph_capture,
    "device_to_host": transfers.device_to_host,
    "allocate_free": transfers.allocate_free,
}
