"""Audio on the wire: base64 of float32 little-endian mono samples, nothing else around them."""

import base64
import binascii

import numpy as np
import numpy.typing as npt

from rocm_wizard.speech.serve import RequestError

type Samples = npt.NDArray[np.float32]

BYTES_PER_SAMPLE = 4


def decode_samples(text: str) -> Samples:
    """Samples of a payload, shape [n], n >= 1.

    Raises RequestError for characters outside the alphabet, wrong padding, a length that is no multiple of 4 bytes,
    no samples, NaN or infinity.
    """
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as failure:
        raise RequestError(f"audio_b64 is not strict base64: {failure}") from failure
    if len(raw) % BYTES_PER_SAMPLE:
        raise RequestError(f"audio_b64 holds {len(raw)} bytes; float32 samples need a multiple of {BYTES_PER_SAMPLE}")
    samples = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if samples.size == 0:
        raise RequestError("audio_b64 holds no samples")
    broken = int(np.count_nonzero(~np.isfinite(samples)))
    if broken:
        raise RequestError(f"audio_b64 holds {broken} samples that are NaN or infinite")
    return samples


def encode_samples(samples: Samples) -> str:
    """The payload of samples of shape [n]. Raises ValueError for no samples, another shape, NaN or infinity."""
    if samples.ndim != 1 or samples.size == 0:
        raise ValueError(f"a chunk needs mono samples, shape [n]; this has shape {list(samples.shape)}")
    if not bool(np.isfinite(samples).all()):
        raise ValueError("the engine produced samples that are NaN or infinite")
    return base64.b64encode(samples.astype("<f4").tobytes()).decode("ascii")
