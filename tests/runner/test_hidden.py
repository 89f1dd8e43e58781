"""Which values are hidden, and that none is seen in what a child says."""

import json
import re
import sys
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.qualification.clean import HIDDEN, SHORTEST_HIDDEN, Hiding, clean_line
from rocm_wizard.runner.hidden import secret_values
from rocm_wizard.runner.spec import ChildSpec

VALUES = st.lists(st.text(st.characters(codec="utf-8"), min_size=SHORTEST_HIDDEN).filter(lambda v: "*" not in v))


@given(VALUES, st.data())
def test_no_hidden_value_survives_however_it_is_spelt(values: list[str], data: st.DataObject) -> None:
    spellings = [str, lambda v: json.dumps(v)[1:-1], lambda v: repr(v)[1:-1], lambda v: quote(v, safe="")]
    spellings += [quote, quote_plus, lambda v: re.sub("%..", lambda code: code[0].lower(), quote(v, safe=""))]
    parts: list[str] = []
    for value in values:
        parts += ["|", data.draw(st.sampled_from(spellings))(value), "|"]
    text, hiding = "".join(parts), Hiding(values)
    for value in (value.strip() for value in values):
        if len(value) >= SHORTEST_HIDDEN:
            assert value not in hiding.text(text)
            assert quote_plus(value) not in hiding.text(text)
            assert value.encode() not in hiding.data(text.encode())


@pytest.mark.parametrize(
    ("values", "text", "told"),
    [
        (["secret-1", "secret-12"], "secret-12 secret-1", "*** ***"),
        (["a\nline one of a key\nline two of a key"], "line two of a key", "***"),
        (["short"], "short", "short"),
        (['say "friend"'], '{"msg": "say \\"friend\\""}', '{"msg": "***"}'),
        ([], "nothing to hide", "nothing to hide"),
    ],
)
def test_what_is_told(values: list[str], text: str, told: str) -> None:
    assert Hiding(values).text(text) == told
    assert Hiding(values).data(text.encode()) == told.encode()
    assert all(value not in repr(Hiding(values)) for value in values)


SECRET = "abc/def-123"


@pytest.mark.parametrize(
    ("argv", "secret"),
    [
        (["--api-key", SECRET, "x"], SECRET),
        ([f"--hf-token={SECRET}", "--port=123456"], SECRET),
        (["--token", "-abc/def-123"], "-abc/def-123"),
        (["http://me:abcdef-123@host/x"], "abcdef-123"),
        (["-c", "token = 'hf_abcdefghij'"], "hf_abcdefghij"),
        (["--config", json.dumps({"api_key": SECRET, "other": 5})], SECRET),
        (["env", f"HF_TOKEN={SECRET}", "python", "x.py"], SECRET),
        (["run", "-e", f"apiKey={SECRET}", "image"], SECRET),
        (["--header", f"Authorization: Bearer {SECRET}"], SECRET),
        ([f"https://x.org/?token={SECRET}&y=1"], SECRET),
        (["--password", "123456"], "123456"),
        (["--password=correcthorse"], "correcthorse"),
        (["-token", "Abc9def-Xyz123"], "Abc9def-Xyz123"),
        (["--hftoken", SECRET, "--secretkey", SECRET, "--apiKeys", SECRET], SECRET),
        (["--api-key=correct horse 9battery"], "correct horse 9battery"),
        (["--config", json.dumps({"password": "a,b;9c(d)e"})], "a,b;9c(d)e"),
        (["postgres://me:a(b)c9def@h/db"], "a(b)c9def"),
        (["-DTOKEN=abcdefghi"], "abcdefghi"),
        (["--token=12345678"], "12345678"),
        (["-c", f"python x --token {SECRET}"], SECRET),
        (["-c", f"os.environ['HF_TOKEN']='{SECRET}'"], SECRET),
        (["-H", f"Authorization: Token {SECRET}"], SECRET),
        ([json.dumps(json.dumps({"api_key": SECRET}))], SECRET),
    ],
)
def test_what_a_command_line_keeps_to_itself(argv: list[str], secret: str, tmp_path: Path) -> None:
    spec = ChildSpec("test", [sys.executable, *argv], tmp_path)
    for said in (" ".join(spec.shown_command()), spec.hiding().text(f"401 for {secret}, {secret!r} is wrong")):
        assert secret not in said and "***" in said


@pytest.mark.parametrize(
    "argv",
    [
        ["--tokenizer", "Qwen/Qwen3-ASR-0.6B", "--author", "a person", "--passes", "100000"],
        ["--max-tokens", "131072", "--key-cache", "100000", "--key", "--json", "--no-auth", "anything"],
        ["-u", "--auth", "sidecar.py"],
        ["-c", "def f(token: Optional[str], key: bytes = something): return key"],
        ["--token-type", "bearer", "--sort-key", "created_at", "--key-dtype", "float16", "--hf_model", "some/model"],
        ["--pad-token", "<|endoftext|>", "-c", "def f(key: Tensor2d): key=torch.float16"],
        ["--monkey", "business-123", "--reference-text", "the password is said here"],
        ["--device", "cuda:0", "--token", "disabled"],
    ],
)
def test_what_looks_a_little_like_a_secret_is_told(argv: list[str], tmp_path: Path) -> None:
    (tmp_path / "sidecar.py").touch()
    spec = ChildSpec("test", [sys.executable, *argv], tmp_path)
    assert spec.shown_command() == [sys.executable, *argv]


@pytest.mark.parametrize("part", ["a=", "a:", "token=abc9/", "ab00:", "key ", "--key=", "x" * 9, "token"])
def test_a_long_argument_takes_no_time(part: str, tmp_path: Path) -> None:
    began = time.monotonic()
    ChildSpec("test", [sys.executable, part * (100_000 // len(part))], tmp_path).hiding()
    assert time.monotonic() - began < 2


def test_half_a_surrogate_pair_in_a_value_hurts_nobody() -> None:
    assert Hiding(["secret\ud800"]).text("a secret\ud800") == "a ***"
    assert Hiding(["secret\ud800", "another"]).data(b"another") == b"***"


def test_a_plain_word_may_be_heard() -> None:
    hiding = Hiding(["password", "sk-0123456789"])
    assert hiding.speech("the password is sk-0123456789") == f"the password is {HIDDEN}"
    assert hiding.text("the password is sk-0123456789") == f"the {HIDDEN} is {HIDDEN}"


def test_a_line_is_hidden_before_it_is_shortened_and_after_colours_went() -> None:
    hiding = Hiding(["sk-0123456789"])
    assert clean_line("." * 995 + "sk-0123456789" + "." * 20, hiding) == "." * 995 + "***.…"
    assert clean_line("sk-01\x1b[31m23456789", hiding) == HIDDEN


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("OPENAI_API_KEY", "sk-0123456789", {"sk-0123456789"}),
        ("MY_PASSWORD", " hunter ", {"hunter"}),
        ("DB", "postgres://me:letmein1@host/x", {"postgres://me:letmein1@host/x", "letmein1"}),
        ("AWS_SECRET_ACCESS_KEY", "/nosuchfolder/Xy+z0123456789", {"/nosuchfolder/Xy+z0123456789"}),
        ("MAX_TOKENS", "256", set[str]()),
        ("TOKENIZERS_PARALLELISM", "false", set[str]()),
        ("TTS_PRIVATE", "Disabled", set[str]()),
        ("KEY_DEVICE", "cuda:0", set[str]()),
        ("PWD", str(Path(sys.executable).parent), set[str]()),
        ("SSH_AUTH_SOCK", str(Path.home() / "agent" / "0"), set[str]()),
        ("KEY_FILE", "../keys/mine.pem", set[str]()),
        ("KEY_FILE", "~/keys/mine.pem", set[str]()),
        ("MY_NOTE", "canary-3", {"canary-3"}),
        ("MY_LEVEL", "warning", set[str]()),
        ("MY_PORT", "-1234.56", set[str]()),
        ("KNOWN", "canary-4", set[str]()),
    ],
)
def test_which_values_are_secret(name: str, value: str, hidden: set[str]) -> None:
    assert secret_values({name: value, "GONE": None}, {"MY_NOTE", "MY_LEVEL", "MY_PORT", "MY_PASSWORD"}) == hidden


def test_a_child_inherits_secrets_that_are_hidden_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHERITED_TOKEN", "inherited-1")
    monkeypatch.setenv("REMOVED_TOKEN", "removed-1")
    spec = ChildSpec("x", ["x"], tmp_path, {"REMOVED_TOKEN": None, "NOTE": "note-1"}, masked=frozenset({"NOTE"}))
    assert spec.hiding().text("inherited-1 removed-1 note-1") == "*** removed-1 ***"
