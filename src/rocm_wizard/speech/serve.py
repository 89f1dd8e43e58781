"""The loop that both sidecars share: load, say `ready`, then answer one line at a time until stdin ends."""

import argparse
import faulthandler
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO, NoReturn, Protocol

from rocm_wizard.speech.guard import ProtocolWriter, claim_stdout

type Message = dict[str, object]

EXIT_OK = 0
EXIT_LOAD_FAILED = 1


class LoadFailure(Exception):
    """The engine cannot start; the text goes to the host behind `LOAD_FAIL: `. `facts` join the message's fields."""

    def __init__(self, text: str, facts: Mapping[str, object] | None = None) -> None:
        super().__init__(text)
        self.facts = dict(facts or {})


class RequestError(Exception):
    """This request cannot be answered; the sidecar goes on with the next one."""


class Service(Protocol):
    """A loaded engine behind the wire."""

    def ready(self) -> Message:
        """The `ready` message."""
        ...

    def error_fields(self, request: Message | None) -> Message:
        """Fields an `error` for this request carries beside `type` and `msg`; None when the line was not an object."""
        ...

    def answer(self, request: Message, send: Callable[[Message], None]) -> None:
        """Answer one request completely. Any exception becomes an `error` message."""
        ...


class OptionParser(argparse.ArgumentParser):
    """Reports a wrong option over the wire, where the host looks, instead of leaving with a bare exit code."""

    def error(self, message: str) -> NoReturn:
        raise LoadFailure(f"{message}\n{self.format_usage().strip()}")


def check_engine(engine: str, known: Sequence[str]) -> None:
    """Raises LoadFailure for an engine that this sidecar does not have."""
    if engine not in known:
        raise LoadFailure(f"unknown engine {engine!r}; known: {', '.join(known)}")


def run_sidecar(
    load: Callable[[Sequence[str]], Service], device_variable: str, arguments: Sequence[str] | None = None
) -> int:
    """A sidecar from its first line to its exit code: stdout is claimed before anything heavy is imported."""
    writer = claim_stdout()
    given = sys.argv[1:] if arguments is None else arguments
    wanted = os.environ.get(device_variable, "auto")
    return serve(writer, lambda: load(given), lambda: wanted_facts(wanted))


def serve(writer: ProtocolWriter, load: Callable[[], Service], facts: Callable[[], Message]) -> int:
    """Run a sidecar to its end and return the process's exit code.

    `load` builds the engine, heavy imports included, so that a missing package is a `LOAD_FAIL` and not an empty pipe.
    `facts` are fields for a load failure (device wanted, versions); they must not raise.
    """
    faulthandler.enable(file=sys.stderr)
    spin_shortly()
    try:
        service = load()
        writer.send(service.ready())
    except Exception as failure:  # noqa: BLE001 - whatever stops an import or a load, the host must read it
        return _load_failed(writer, failure, facts)
    try:
        for line in _lines(sys.stdin.buffer):
            _answer(service, line, writer)
    except BrokenPipeError:
        print("the host closed the protocol pipe", file=sys.stderr)
    return EXIT_OK


def spin_shortly() -> None:
    """Keeps GNU OpenMP's threads from spinning long at a barrier; to be called before torch is imported.

    On two cores beside one or two busy processes, an utterance of 7 s took up to 25 s with the default of 300,000 turns
    and 2.6 s with 10,000, for 0.9 s in place of 0.8 s on a quiet machine. Other OpenMP libraries ignore the variable.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")


def wanted_facts(device: str) -> Message:
    """Fields of a load failure. It may be torch's own import that failed, so what is unknown is None."""
    torch = sys.modules.get("torch")
    version = getattr(torch, "version", None)
    try:
        available = bool(torch is not None and torch.cuda.is_available())
    except Exception:  # noqa: BLE001 - a half-imported torch may raise anything
        available = False
    return {
        "device": device,
        "torch": getattr(torch, "__version__", None),
        "hip": getattr(version, "hip", None),
        "cuda_available": available,
    }


def parse_line(line: bytes) -> Message:
    """One wire line as an object. Raises RequestError for anything that is not one strict UTF-8 JSON object."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as failure:
        raise RequestError(f"the line is not JSON: {failure}") from failure
    if not isinstance(value, dict):
        raise RequestError(f"a request is a JSON object, this is {type(value).__name__}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline():
        if line.strip():
            yield line


def _answer(service: Service, line: bytes, writer: ProtocolWriter) -> None:
    request: Message | None = None
    try:
        request = parse_line(line)
        service.answer(request, writer.send)
    except BrokenPipeError:
        raise
    except Exception as failure:  # noqa: BLE001 - one bad request must not end the sidecar
        if not isinstance(failure, RequestError):
            traceback.print_exc(file=sys.stderr)
        writer.send({"type": "error", **service.error_fields(request), "msg": _text_of(failure)})


def _load_failed(writer: ProtocolWriter, failure: Exception, facts: Callable[[], Message]) -> int:
    traceback.print_exc(file=sys.stderr)
    extra = failure.facts if isinstance(failure, LoadFailure) else {}
    try:
        writer.send({"type": "error", "msg": f"LOAD_FAIL: {_text_of(failure)}", **facts(), **extra})
    except BrokenPipeError:
        print("the host closed the protocol pipe before ready", file=sys.stderr)
    return EXIT_LOAD_FAILED


def _text_of(failure: Exception) -> str:
    if isinstance(failure, LoadFailure | RequestError):
        return str(failure)
    return f"{type(failure).__name__}: {failure}"
