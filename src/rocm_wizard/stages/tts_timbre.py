"""Whether the voice stays the same voice along a long sentence.

GPT-SoVITS v3 makes each block from the one before it and looks at the reference recording only for the first, so its
timbre can wander off (`docs/wire.md`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.speech_children import tts_engine, voice_reference
from rocm_wizard.stages.utterance import Utterance

if TYPE_CHECKING:
    from rocm_wizard.audio.timbre import Timbre

_LONGEST_REFERENCE = 60
"""Seconds that are read of a reference recording."""


class ReferenceUnreadable(Exception):
    """The reference recording cannot be used; the finding is reported."""


def read_reference(context: StageContext, session: Session) -> tuple[Samples, int] | None:
    """The reference recording as mono samples and their rate, where there is one and the voice uses it.

    A file that cannot be read is told here, before any work: the host's child would answer with silence.

    Raises:
        ReferenceUnreadable: it cannot be read.
    """
    from rocm_wizard.audio.sound_file import NoSound, mixed_to_mono, read_frames, read_header

    path, _ = voice_reference(session)
    if path is None:
        return None
    with context.check("reference"):
        if tts_engine(session) == "embedded":
            context.finding("tts.reference_ignored", Outcome.WARNING, ["file"], file=path.name)
            return None
        try:
            header = read_header(path)
            samples = mixed_to_mono(read_frames(path, _LONGEST_REFERENCE * header.rate))
        except (OSError, NoSound) as error:
            context.finding("tts.reference_unreadable", Outcome.FAILED, ["file"], file=path.name, reason=_reason(error))
            raise ReferenceUnreadable from error
        seconds = round(header.seconds, 2)
        context.finding("tts.reference", Outcome.PASSED, ["file"], file=path.name, seconds=seconds, rate=header.rate)
    return samples, header.rate


def judge_timbre(context: StageContext, utterance: Utterance, reference: tuple[Samples, int] | None) -> None:
    """Per-block centroid and distances for a plot, and a finding about their drift."""
    from rocm_wizard.audio.timbre import DRIFT_CHANCE, DRIFT_SIZE, LEAST_BLOCKS, block_timbres, measure_drift

    blocks = [block.chunk.samples for block in utterance.speech]
    if not blocks:
        return
    highest = utterance.rate / 2 if reference is None else min(utterance.rate, reference[1]) / 2
    timbres = block_timbres(blocks, utterance.rate, highest)
    original = block_timbres([reference[0]], reference[1], highest)[0] if reference is not None else None
    _measure(context, timbres, original)
    drift = measure_drift(timbres)
    known = [timbre for timbre in timbres if timbre is not None]
    if drift is None:
        context.finding("tts.timbre_too_short", Outcome.SKIPPED, blocks=len(known), least=LEAST_BLOCKS)
        return
    facts: dict[str, Any] = {
        "blocks": drift.blocks,
        "change": round(drift.change, 1),
        "spread": round(drift.spread, 1),
        "size": round(drift.size, 2),
        "chance": round(drift.chance, 3),
        "octaves": round(drift.octaves, 2),
        "size_limit": DRIFT_SIZE,
        "chance_limit": DRIFT_CHANCE,
    }
    if original is not None:
        third = max(1, len(known) // 3)
        distances = [timbre.distance(original) for timbre in known]
        facts["reference_first"] = round(sum(distances[:third]) / third, 1)
        facts["reference_last"] = round(sum(distances[-third:]) / third, 1)
    id = "tts.timbre_drift" if drift.found else "tts.timbre_steady"
    context.finding(id, Outcome.WARNING if drift.found else Outcome.PASSED, **facts)


def _measure(context: StageContext, timbres: "Sequence[Timbre | None]", original: "Timbre | None") -> None:
    first = next((timbre for timbre in timbres if timbre is not None), None)
    for number, timbre in enumerate(timbres, start=1):
        if timbre is None or first is None:
            continue
        context.measure("tts.centroid", timbre.centroid, "Hz", number)
        if timbre is not first:
            context.measure("tts.mfcc_distance", timbre.distance(first), "dB", number)
        if original is not None:
            context.measure("tts.mfcc_distance_reference", timbre.distance(original), "dB", number)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).rstrip(".")
