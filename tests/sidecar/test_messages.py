"""The wire's decoder never raises anything but its own error, whatever a child sends."""

import base64
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.sidecar.messages import (
    ProtocolError,
    Ready,
    decode_line,
    encode,
    encode_samples,
    excerpt,
    parse_chunk,
    parse_ready,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_line_is_a_message_or_a_protocol_error(data: bytes) -> None:
    try:
        message = decode_line(data)
    except ProtocolError as error:
        assert error.rule in ("not_utf8", "text_on_stdout", "not_an_object", "no_type")
        assert error.shown.isascii() or error.shown.endswith("…")
        assert error.shown.isprintable()
    else:
        assert isinstance(message["type"], str)


@given(st.dictionaries(st.sampled_from(["sample_rate", "audio_b64", "text", "device", "torch", "hip"]), json_values))
def test_any_fields_parse_or_break_a_named_rule(message: dict[str, object]) -> None:
    for parse in (parse_chunk, parse_ready):
        try:
            parse(message)
        except ProtocolError as error:
            assert error.rule


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_samples_survive_the_wire_bit_for_bit(values: list[float]) -> None:
    samples = np.array(values, dtype=np.float32)
    line = encode({"type": "chunk", "sample_rate": 24000, "audio_b64": encode_samples(samples)})
    assert line.isascii() and line.count(b"\n") == 1
    assert parse_chunk(decode_line(line)).samples.tobytes() == samples.tobytes()


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"sample_rate": 24000, "audio_b64": base64.b64encode(struct.pack("<f", float("nan"))).decode()}, "not_finite"),
        ({"sample_rate": 24000, "audio_b64": base64.b64encode(b"abcde").decode()}, "odd_byte_count"),
        ({"sample_rate": 24000, "audio_b64": "AA AA"}, "bad_base64"),
        ({"sample_rate": 24000, "audio_b64": ""}, "empty_chunk"),
        ({"sample_rate": True, "audio_b64": "AAAAAA=="}, "bad_sample_rate"),
        ({"sample_rate": 24000.0, "audio_b64": "AAAAAA=="}, "bad_sample_rate"),
    ],
)
def test_broken_rules_are_told_apart(message: dict[str, object], rule: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_chunk(message)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("device", "hip", "kind"),
    [("cuda:0", "7.2.53211", "hip"), ("cuda:0", None, "cuda"), ("cpu", "7.2", "cpu"), ("mps", None, "mps")],
)
def test_only_hip_tells_rocm_from_cuda(device: str, hip: str | None, kind: str) -> None:
    ready = parse_ready({"type": "ready", "device": device, "hip": hip, "semantic_backend": "torch"})
    assert ready == Ready(device, None, hip, None, None, {"semantic_backend": "torch"})
    assert ready.device_kind == kind


def test_deep_nesting_is_a_broken_rule_not_a_crash() -> None:
    with pytest.raises(ProtocolError):
        decode_line(b"[" * 200_000)


def test_an_excerpt_is_short_and_harmless() -> None:
    shown = excerpt(b"\x1b[31m" + "漢".encode() * 100)
    assert shown.startswith("\\x1b[31m") and len(shown) < 700
