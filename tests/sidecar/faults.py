"""Every fault of `children/bad_sidecar.py`: what is wrong, and the finding it must give within its seconds."""

from dataclasses import dataclass

from rocm_wizard.qualification.outcome import Outcome

FAILED, WARNING, CRASHED = Outcome.FAILED, Outcome.WARNING, Outcome.CRASHED
QUICK = 10.0
"""Seconds in which a fault that is visible at once has to be told, the start of an interpreter included."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One mode of the child. `waits`: it shows only by a deadline (ready 1.5 s, message 1 s, end 1 s in the test)."""

    kind: str
    mode: str
    does: str
    finding: str
    outcome: Outcome = FAILED
    waits: bool = False
    seconds: float = QUICK


def _both(mode: str, does: str, finding: str, outcome: Outcome = FAILED, *, waits: bool = False) -> tuple[Fault, Fault]:
    return Fault("asr", mode, does, finding, outcome, waits), Fault("tts", mode, does, finding, outcome, waits)


FAULTS: tuple[Fault, ...] = (
    Fault("asr", "never_ready", "says nothing at all", "sidecar.not_ready", waits=True),
    Fault("asr", "prints_forever", "prints lines without an end", "sidecar.not_ready", waits=True),
    Fault("asr", "banner_first", "prints a line before `ready`", "wire.text_before_ready", WARNING),
    Fault("tts", "banner_first", "prints a line before `ready`", "wire.text_before_ready"),
    Fault("asr", "gbk_first", "prints a line in GBK before `ready`", "wire.text_before_ready", WARNING),
    Fault("tts", "gbk_first", "prints a line in GBK before `ready`", "wire.text_before_ready"),
    Fault("tts", "array_first", "begins with a JSON array", "wire.not_an_object"),
    Fault("tts", "load_fail", "reports a load failure and leaves", "sidecar.load_failed"),
    Fault("asr", "traceback", "dies in an import", "sidecar.died"),
    Fault("asr", "leaves_at_once", "leaves with code 0 before `ready`", "sidecar.died"),
    Fault("tts", "other_first", "begins with an unknown message", "wire.not_ready_first"),
    Fault("asr", "answer_first", "begins with an answer", "wire.not_ready_first"),
    Fault("tts", "no_device", "is ready without a device", "wire.bad_ready"),
    *_both("wrong_device", "is ready on another device", "sidecar.wrong_device"),
    Fault("tts", "second_ready", "says `ready` again in place of an answer", "wire.second_ready"),
    *_both("print", "prints a progress bar in place of an answer", "wire.text_on_stdout"),
    Fault("tts", "gbk", "prints GBK in place of an answer", "wire.not_utf8"),
    Fault("asr", "array", "answers with a JSON array", "wire.not_an_object"),
    Fault("tts", "no_type", "answers without a type", "wire.no_type"),
    Fault("asr", "type_is_number", "answers with a number as type", "wire.no_type"),
    Fault("tts", "deep_nesting", "answers with 100,000 brackets", "wire.text_on_stdout"),
    Fault("asr", "half_line", "breaks off within a line and leaves", "sidecar.died"),
    Fault("asr", "half_line_killed", "is killed within a line", "sidecar.died", CRASHED),
    Fault("tts", "huge_line", "writes 34 MiB without a line end", "wire.line_too_long"),
    Fault("tts", "silent", "sends one block and nothing more", "sidecar.fell_silent", waits=True),
    Fault("tts", "never_answers", "never answers", "sidecar.silent", waits=True),
    Fault("asr", "unknown_then_silent", "sends an unknown message, then nothing", "sidecar.silent", waits=True),
    *_both("unknown_flood", "sends unknown messages without an end", "wire.unknown_flood"),
    *_both("dies", "leaves with code 3 in place of an answer", "sidecar.died"),
    *_both("killed", "is killed in place of an answer", "sidecar.died", CRASHED),
    *_both("refuses", "refuses every request", "sidecar.refused"),
    Fault("asr", "unknown_type", "sends an unknown message before its answer", "wire.unknown_types", WARNING),
    Fault("tts", "unknown_type", "sends an unknown message before its answer", "wire.unknown_types"),
    Fault("asr", "noisy_stderr", "logs 9 kB with each answer", "sidecar.stderr_volume", WARNING),
    Fault("asr", "reads_nothing", "never reads its requests", "sidecar.stuck", waits=True),
    Fault("asr", "lingers", "does not end when its input is closed", "sidecar.would_not_exit", WARNING, waits=True),
    Fault("tts", "leaves_with_3", "ends with code 3 after its work", "sidecar.bad_exit", WARNING),
    *_both("leaves_behind", "leaves a process behind", "sidecar.left_processes", WARNING, waits=True),
    Fault("asr", "prints_at_the_end", "prints a line when its input is closed", "wire.text_on_stdout"),
    Fault("asr", "answers_at_the_end", "answers once more when its input is closed", "wire.second_result"),
    Fault("tts", "answers_at_the_end", "speaks once more when its input is closed", "wire.chunk_after_done"),
    Fault("asr", "no_text", "answers without a text", "wire.bad_result"),
    Fault("asr", "text_is_number", "answers with a number as text", "wire.bad_result"),
    Fault("asr", "half_surrogate", "answers with half a surrogate pair", "wire.bad_result"),
    Fault("asr", "two_results", "answers twice", "wire.second_result"),
    Fault("asr", "chunk_for_result", "answers with sound", "wire.wrong_answer_type"),
    Fault("tts", "nan", "sends NaN samples", "wire.not_finite"),
    Fault("tts", "infinite", "sends infinite samples", "wire.not_finite"),
    Fault("tts", "bad_base64", "sends letters that base64 does not have", "wire.bad_base64"),
    Fault("tts", "spaced_base64", "sends base64 with a space in it", "wire.bad_base64"),
    Fault("tts", "no_audio_field", "sends a block without sound", "wire.bad_base64"),
    Fault("tts", "odd_bytes", "sends 5 bytes of sound", "wire.odd_byte_count"),
    Fault("tts", "empty_chunk", "sends a block of no samples", "wire.empty_chunk"),
    Fault("tts", "no_rate", "sends a block without sample rate", "wire.bad_sample_rate"),
    Fault("tts", "rate_is_zero", "sends the sample rate 0", "wire.bad_sample_rate"),
    Fault("tts", "rate_is_text", "sends the sample rate as a string", "wire.bad_sample_rate"),
    Fault("tts", "rate_changes", "changes the sample rate within an utterance", "wire.sample_rate_changed"),
    Fault("tts", "wrong_id", "sends a block of another request", "wire.wrong_request_id"),
    Fault("tts", "no_id", "sends a block without id", "wire.wrong_request_id"),
    Fault("tts", "error_for_another", "reports an error of another request", "wire.wrong_request_id"),
    Fault("tts", "done_for_another", "ends another request", "wire.wrong_request_id"),
    Fault("tts", "result_for_chunk", "answers as a recogniser", "wire.wrong_answer_type"),
    Fault("tts", "nothing", "says `done` without sound", "wire.no_audio"),
    Fault("tts", "chunk_after_done", "sends a block after `done`", "wire.chunk_after_done"),
    Fault("tts", "done_twice", "says `done` twice", "wire.second_done"),
    Fault("tts", "error_after_done", "reports an error after `done`", "wire.unasked_error"),
    Fault("tts", "endless", "never ends its utterance", "wire.endless"),
    Fault("tts", "drips", "sends 10 ms of sound every 0.2 s, for ever", "wire.endless", waits=True, seconds=25.0),
)
