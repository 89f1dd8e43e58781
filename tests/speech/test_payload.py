"""Audio on the wire."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rocm_wizard.speech.payload import decode_samples, encode_samples
from rocm_wizard.speech.serve import RequestError, parse_line

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(arrays("<f4", st.integers(1, 200), elements=finite))
def test_samples_survive_bit_for_bit(samples: np.ndarray) -> None:
    assert decode_samples(encode_samples(samples)).tobytes() == samples.tobytes()


def test_known_payload() -> None:
    assert encode_samples(np.array([0.1, -1.0], np.float32)) == "zczMPQAAgL8="


@pytest.mark.parametrize("samples", [[], [np.nan], [np.inf], [[0.0]]])
def test_what_no_host_may_see_is_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match=r"chunk needs mono|NaN or infinite"):
        encode_samples(np.array(samples, np.float32))


@given(st.text())
def test_any_text_is_decoded_or_refused(text: str) -> None:
    try:
        assert decode_samples(text).size > 0
    except RequestError:
        pass


@given(st.binary())
def test_any_line_is_an_object_or_refused(line: bytes) -> None:
    try:
        assert isinstance(parse_line(line), dict)
    except RequestError:
        pass
