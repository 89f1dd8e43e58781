"""A message as it may be told: no secret in it, and exact where the wire is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.qualification.clean import Hiding
from rocm_wizard.sidecar.messages import ProtocolError, decode_line
from rocm_wizard.sidecar.told import decode_told

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON), st.text())
def test_without_a_secret_in_it_a_message_is_what_it_was(message: dict[str, object], kind: str) -> None:
    line = json.dumps(message | {"type": kind}).encode()
    assert decode_told(line, Hiding([])) == decode_told(line, Hiding(["no such value"])) == decode_line(line)


def told(secret: str, **message: object) -> dict[str, object]:
    return decode_told(json.dumps(message).encode(), Hiding([secret]))


def test_the_wire_stays_exact_whatever_the_secrets_are() -> None:
    request_id = "0123456789abcdef0123456789abcdef"
    assert told("456789", type="done", request_id=request_id)["request_id"] == request_id
    assert told(request_id, type="done", request_id=request_id)["request_id"] == "***"
    assert told("result", type="result", text="result")["type"] == "result"
    assert told("AAAA/AAAA", type="chunk", audio_b64="AAAA/AAAA/AAAA")["audio_b64"] == "AAAA/AAAA/AAAA"
    assert told("sample_rate", type="chunk", sample_rate=5) == {"type": "chunk", "sample_rate": 5}


def test_what_is_judged_stays_exact_though_a_setting_says_the_same() -> None:
    ready = {
        "device": "cuda:0",
        "torch": "2.9.1+rocm7.2.1",
        "hip": "7.2.53211-abc1234",
        "attn_impl": "flash_attention_2",
    }
    for value in ready.values():
        assert told(value, type="ready", **ready) == {"type": "ready", **ready}
    assert told("sk-0123456789", type="ready", torch="2.9.1 sk-0123456789")["torch"] == "2.9.1 ***"
    assert told("0123456789abcdef", type="ready", hip="7.2+0123456789abcdefg")["hip"] == "7.2+***g"


def test_numbers_are_hidden_where_the_wire_has_none() -> None:
    said = told("12345678", type="ready", load_ms=12345678, key=12345678, more=[{"x": 0.12345678}, 1234567])
    assert said == {"type": "ready", "load_ms": 12345678, "key": "***", "more": [{"x": "***"}, 1234567]}


def test_everything_else_is_hidden() -> None:
    secret = "sk-0123456789"
    said = told(secret, type=f"x {secret}", a=[{secret: secret}], text=secret, request_id=secret)
    assert said == {"type": "x ***", "a": [{"***": "***"}], "text": "***", "request_id": "***"}


def test_a_message_without_a_bottom_is_cut_off_and_not_climbed_down() -> None:
    line = b'{"type":"ready","extra":' + b"[" * 900 + b'"sk-0123456789"' + b"]" * 900 + b"}"
    assert "sk-" not in json.dumps(decode_told(line, Hiding(["sk-0123456789"])))


@pytest.mark.parametrize("line", ["x" * 115 + "sk-0123456789", '["sk-0123456789"]', '{"msg":"sk-0123456789"}'])
def test_an_excerpt_holds_no_part_of_a_secret(line: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_told(line.encode(), Hiding(["sk-0123456789"]))
    assert "sk-" not in caught.value.shown and "***" in caught.value.shown
