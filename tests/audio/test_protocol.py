import base64
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rocm_wizard.audio.protocol import Audio, End, LineReader, Open, ProtocolError, Stop, decode


def message(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def packed(*values: float) -> str:
    return base64.b64encode(np.array(values, "<f4").tobytes()).decode()


@given(arrays(np.float32, st.integers(1, 300), elements=st.floats(-2, 2, width=32)))
def test_audio_arrives_bit_by_bit(samples: np.ndarray) -> None:
    decoded = decode(message(type="audio", audio_b64=base64.b64encode(samples.astype("<f4").tobytes()).decode()))
    assert isinstance(decoded, Audio)
    assert decoded.frames.tobytes() == samples.tobytes()


def test_other_messages() -> None:
    assert decode(message(type="open", sample_rate=24_000, device=None)) == Open(24_000)
    again = {"device": "扬声器", "host_api": "Windows WASAPI", "or_default": True, "resumed": True}
    assert decode(message(type="open", sample_rate=24_000, **again)) == Open(24_000, **again)
    assert isinstance(decode(message(type="end")), End)
    assert isinstance(decode(message(type="stop", later="fields are ignored")), Stop)
    assert decode(b" \r") is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\xff\xfe{", "not_json"),
        (b'{"type":"stop"', "not_json"),
        (b'{"type":"open","sample_rate":NaN}', "not_json"),
        (b"[" * 100_000, "not_json"),
        (b"[]", "not_an_object"),
        (b"{}", "unknown_type"),
        (message(type="open"), "bad_rate"),
        (message(type="open", sample_rate=True), "bad_rate"),
        (message(type="open", sample_rate=24_000.0), "bad_rate"),
        (message(type="open", sample_rate=1), "bad_rate"),
        (message(type="open", sample_rate=24_000, device=3), "bad_device"),
        (message(type="open", sample_rate=24_000, host_api=["MME"]), "bad_device"),
        (message(type="audio"), "bad_audio"),
        (message(type="audio", audio_b64=""), "bad_audio"),
        (message(type="audio", audio_b64="AAAA"), "bad_audio"),
        (message(type="audio", audio_b64="AAAA AAA=="), "bad_audio"),
        (message(type="audio", audio_b64="音"), "bad_audio"),
        (message(type="audio", audio_b64=packed(0.1, float("nan"))), "bad_audio"),
        (message(type="audio", audio_b64=packed(float("-inf"))), "bad_audio"),
    ],
)
def test_refusals(line: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(line)
    assert caught.value.reason == reason


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_protocol_error(line: bytes) -> None:
    try:
        decode(line)
    except ProtocolError as error:
        assert error.reason


@given(
    lines=st.lists(st.binary(max_size=50).map(lambda data: data.replace(b"\n", b"")), max_size=8), torn=st.booleans()
)
def test_lines_are_cut_at_newlines_only(lines: list[bytes], torn: bool) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"".join(line + b"\n" for line in lines) + (b"torn" if torn else b""))
    os.close(writing)
    reader = LineReader(reading)
    assert [reader.read() for _ in lines] == lines
    assert reader.read() is None
    os.close(reading)


def test_what_others_print_stays_off_the_protocol() -> None:
    code = (
        "import os; from rocm_wizard.audio.protocol import claim_stdout\n"
        "writer = claim_stdout(); print('from python'); os.write(1, b'from native code\\n')\n"
        "writer.send('opened', device='扬声器')"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, timeout=30, check=True)
    assert done.stdout == b'{"type":"opened","device":"\\u626c\\u58f0\\u5668"}\n'
    assert b"from native code" in done.stderr
    assert b"from python" in done.stderr
