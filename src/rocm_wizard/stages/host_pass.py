"""A second start of a checkout's sidecar, exactly as the application starts it: bare command, inherited environment,
the person's own `.env`, the host's own limits. The first pass sees a cleaner world; this one tells the differences.
"""

import time
from pathlib import Path
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import Child, StartFailed
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.host_limits import HOST_ANSWER_SECONDS, HOST_READY_SECONDS, STDERR_LIMIT
from rocm_wizard.sidecar.launch import host_sidecar
from rocm_wizard.sidecar.swallowed import swallowed_failure
from rocm_wizard.stages.asr_recording import SAMPLE_RATE, read_bundled
from rocm_wizard.stages.checkout_settings import checkout_settings, hidden_values, private_settings
from rocm_wizard.stages.error_rate import error_rate
from rocm_wizard.stages.ready_rules import device_kind, ready_faults
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import exit_grace, judge_exit, left_by
from rocm_wizard.stages.speech_children import asr_engine, asr_spec, tts_engine, tts_spec
from rocm_wizard.stages.tts_presets import preset_plan
from rocm_wizard.stages.tts_swallowed import is_audible
from rocm_wizard.stages.utterance import PAUSE_SECONDS, speak

_STDERR_SHOWN = 5
_UNBLOCKED, _POLL = 1.0, 0.02
_ERRORS = {
    "not_ready": "host_not_ready",
    "silent": "host_silent",
    "load_failed": "host_load_failed",
    "died": "host_died",
    "refused": "host_refused",
}
_STANDS_STILL = ("not_ready", "silent", "stuck")
_GARBAGE = ("text_on_stdout", "text_before_ready", "not_utf8", "not_an_object", "no_type")


def host_pass(context: StageContext, session: Session, kind: str) -> None:
    """Starts the checkout's `asr` or `tts` sidecar as the host does, and asks it once; nothing to do for others."""
    if (asr_engine if kind == "asr" else tts_engine)(session) != "checkout":
        return
    clean = asr_spec(session) if kind == "asr" else tts_spec(session)
    checkout = session.target.checkout
    if checkout is None or not clean.startable:
        return
    settings = checkout_settings(checkout)
    masked, hidden = private_settings(settings), hidden_values(checkout)
    spec = host_sidecar(kind, Path(clean.argv[0]), checkout, settings, masked, hidden)
    with context.check("host_pass"):
        try:
            child = session.runner.start(spec, context.stage, context.cancel)
        except StartFailed as error:
            context.finding("sidecar.not_started", Outcome.COULD_NOT_CHECK, sidecar=spec.purpose, reason=error.reason)
            return
        try:
            _Pass(context, session, kind, child).run()
        finally:
            child.stop(grace=2.0)


class _Pass:
    """One start and one request, under the host's limits."""

    def __init__(self, context: StageContext, session: Session, kind: str, child: Child) -> None:
        self._context, self._session, self._kind, self._child = context, session, kind, child
        limits = session.options.limits
        # The host waits for its voice without any limit; ours are those of the profile.
        asr = kind == "asr"
        self._ready = limits.get("host_ready", HOST_READY_SECONDS) if asr else session.limit("ready")
        self._answer = limits.get("host_answer", HOST_ANSWER_SECONDS) if asr else session.limit("message")
        self._client = SidecarClient(
            child, ready_seconds=self._ready, message_seconds=self._answer, text_before_ready=asr
        )
        self._differences = 0

    def run(self) -> None:
        """Every difference is a finding; none is one too."""
        try:
            ready, seconds = self._client.wait_ready()
            found = device_kind(ready, self._kind, self._session.chosen.device_kind)
            if found != self._session.chosen.device_kind:
                self._tell("host_device", Outcome.FAILED, found=found, wanted=self._session.chosen.device_kind)
            for id, outcome, facts in ready_faults(self._session, self._kind, ready, Path(self._child.spec.argv[0])):
                self._note(id, outcome, sidecar=self._child.spec.purpose, **facts)
            took = self._listen() if self._kind == "asr" else self._speak()
            self._leave()
        except SidecarError as error:
            self._tell_error(error)
            return
        if self._client.text_before_ready:
            self._tell("host_text_before_ready", Outcome.WARNING, detail=self._client.text_before_ready[0])
        traffic = self._client.traffic
        full = traffic.requests_until_full(STDERR_LIMIT)
        if self._kind == "asr" and full is not None:
            logged = traffic.stderr_before_ready + traffic.stderr_worst_request
            self._tell("host_stderr", Outcome.WARNING, most=logged, requests=full, limit=STDERR_LIMIT)
        if not self._differences:
            self._tell("host_same", Outcome.PASSED, seconds=round(seconds, 1), took=round(took, 2))

    def _listen(self) -> float:
        recording = bundled_recording()
        heard = self._client.transcribe(read_bundled(recording), SAMPLE_RATE, recording.language)
        reference = recording.transcript or ""
        rate = error_rate(reference, heard.text, recording.language)
        if rate.value > recording.allowed_error:
            facts = {"text": heard.text, "reference": reference, "unit": rate.unit, "limit": recording.allowed_error}
            self._tell("host_words", Outcome.FAILED, error_rate=round(rate.value, 4), **facts)
        return heard.seconds

    def _speak(self) -> float:
        """As the `.env` file says, whatever the wizard's own options are."""
        host = self._session.as_the_host()
        request = preset_plan(host, "first").request(host)
        if "reference_audio" not in request:
            self._tell("host_no_reference", Outcome.COULD_NOT_CHECK, language=request["language"])
            return 0.0
        utterance = speak(self._client, request)
        failure = swallowed_failure(utterance.chunks, utterance.log, PAUSE_SECONDS)
        if failure is not None:
            self._tell("host_swallowed", Outcome.FAILED, detail=failure)
        elif not is_audible(utterance.chunks):
            self._tell("host_no_sound", Outcome.FAILED)
        return utterance.blocks[-1].seconds

    def _leave(self) -> None:
        """The host ends its sidecar by force; one that has more to say would have said it before the next answer."""
        grace = exit_grace(self._session)
        ends = time.monotonic() + grace
        self._client.finish(grace)
        for id, outcome, facts in judge_exit(self._client, ends):
            if outcome is not Outcome.PASSED:
                self._note(id, outcome, **facts)

    def _tell_error(self, error: SidecarError) -> None:
        seconds = self._ready if error.kind == "not_ready" else self._answer
        id = "host_garbage" if error.rule in _GARBAGE else _ERRORS.get(error.kind, "host_broken")
        if self._waited_for_room() and error.kind in _STANDS_STILL:
            id = "host_stderr_full"
        crashed = error.exit is not None and error.exit.meaning.crashed
        self._tell(
            id,
            Outcome.CRASHED if crashed else Outcome.FAILED,
            detail=error.detail or error.kind,
            rule=error.rule,
            seconds=seconds,
            limit=STDERR_LIMIT,
            stderr=self._child.stderr_tail()[-_STDERR_SHOWN:],
        )
        for id, outcome, facts in left_by(self._client, error):
            self._note(id, outcome, **facts)

    def _waited_for_room(self) -> bool:
        """Whether stderr was full: then more than a pipe of it comes now that it is read, though nothing was asked."""
        child = self._child
        waits = child.spec.undrained and child.stderr_bytes() > 0
        child.drain()
        ends = time.monotonic() + _UNBLOCKED
        while waits and child.stderr_bytes() <= STDERR_LIMIT and time.monotonic() < ends:
            time.sleep(_POLL)
        return waits and child.stderr_bytes() > STDERR_LIMIT

    def _tell(self, name: str, outcome: Outcome, **facts: Any) -> None:
        self._note(f"sidecar.{name}", outcome, sidecar=f"{self._kind} sidecar", **facts)

    def _note(self, id: str, outcome: Outcome, **facts: Any) -> None:
        self._differences += outcome is not Outcome.PASSED
        self._context.finding(id, outcome, ["stderr"], **facts)
