"""Step 6: a persistent child speaks in blocks, which play while later ones are made, and all of it is judged."""

from collections.abc import Sequence
from pathlib import Path

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import Block, SidecarClient
from rocm_wizard.sidecar.messages import Samples
from rocm_wizard.stages.concurrency import compare_concurrency
from rocm_wizard.stages.host_pass import host_pass
from rocm_wizard.stages.model_checks import tts_models_fit
from rocm_wizard.stages.playback import Player
from rocm_wizard.stages.playback_findings import ask_heard, report_playback
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import tts_engine, tts_language, tts_spec
from rocm_wizard.stages.tts_blocks import judge_gaps
from rocm_wizard.stages.tts_interruption import measure_interruption
from rocm_wizard.stages.tts_judgement import judge_seams, judge_signal
from rocm_wizard.stages.tts_output import choose_output, keep
from rocm_wizard.stages.tts_presets import Plan, main_plan, preset_plan
from rocm_wizard.stages.tts_round_trip import round_trip
from rocm_wizard.stages.tts_speed import (
    judge_repeats,
    judge_speed,
    measure_blocks,
    measure_series,
    measure_utterance,
    speak_repeatedly,
    tell_held_back,
)
from rocm_wizard.stages.tts_swallowed import complain_if_swallowed
from rocm_wizard.stages.tts_timbre import ReferenceUnreadable, judge_timbre, read_reference
from rocm_wizard.stages.tts_weights import judge_weights
from rocm_wizard.stages.utterance import Utterance, speak

SMALL_BLOCKS, USUAL_BLOCKS = 0.4, 0.8
"""Seconds. The host uses blocks from 0.35 to 0.8 s; whatever the person chose, another size is measured beside it."""
EMBEDDED_LANGUAGES = ("en", "ja")
_ENVELOPE_POINTS_A_SECOND = 20


class TtsSmokeStage:
    """Text in, blocks of sound out; made and heard are judged apart."""

    id = "tts_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        session = self._session
        if not self._has_voice(context) or not tts_models_fit(context, session):
            return
        output = choose_output(context, session)
        try:
            reference = read_reference(context, session)
        except ReferenceUnreadable:
            return
        player = Player(context, session, session.options.output_device) if session.options.play else None
        try:
            with sidecar(context, session, tts_spec(session)) as client:
                if tts_engine(session) == "checkout":
                    judge_weights(context, client)
                self._qualify(context, client, player, output, reference)
        except SmokeFailed:
            return
        finally:
            if player is not None:
                player.close()
        host_pass(context, session, "tts")

    def _has_voice(self, context: StageContext) -> bool:
        language = tts_language(self._session)
        if tts_engine(self._session) == "embedded" and language not in EMBEDDED_LANGUAGES:
            context.finding("tts.no_voice", Outcome.COULD_NOT_CHECK, language=language)
            return False
        return True

    def _qualify(
        self,
        context: StageContext,
        client: SidecarClient,
        player: Player | None,
        output: Path,
        reference: tuple[Samples, int] | None,
    ) -> None:
        session, plan = self._session, main_plan(self._session)
        utterance = self._speak_aloud(context, client, plan, player)
        with context.check("speed"):
            judge_speed(context, utterance)
        with context.check("signal"):
            plausible = judge_signal(context, utterance, plan, tts_language(session))
        if plausible:
            with context.check("joins"):
                judge_seams(context, utterance)
            with context.check("timbre"):
                judge_timbre(context, utterance, reference)
        with context.check("file"):
            keep(context, session, utterance, output)
        _finish_playback(context, utterance, player)
        if plausible:
            self._measure(context, client, plan, utterance)

    def _speak_aloud(
        self, context: StageContext, client: SidecarClient, plan: Plan, player: Player | None
    ) -> Utterance:
        """The utterance that is heard: its blocks go to the player as they come."""

        def take(block: Block) -> None:
            if player is not None:
                if block.index == 0:
                    player.open(block.chunk.sample_rate)
                player.play(block.chunk.samples)
            context.emit(_outline(context.stage, block))

        with context.check("utterance"):
            utterance = speak(client, plan.request(self._session), take)
            complain_if_swallowed(context, self._session, utterance.chunks, utterance.log)
            note = utterance.done.get("device_note")
            context.finding(
                "tts.utterance",
                Outcome.PASSED,
                blocks=len(utterance.speech),
                pauses=len(utterance.blocks) - len(utterance.speech),
                seconds=round(utterance.seconds, 2),
                seconds_with_pauses=round(utterance.seconds_with_pauses, 2),
                first_audio=round(utterance.first_audio, 3),
                rate=utterance.rate,
                language=tts_language(self._session),
                chunk_seconds=plan.chunk_seconds,
                speed=plan.speed,
                sample_steps=plan.options["sample_steps"],
                engine_note=note if isinstance(note, str) else None,
            )
            tell_held_back(context, utterance)
        measure_utterance(context, plan, utterance, 1)
        measure_blocks(context, utterance)
        return utterance

    def _measure(self, context: StageContext, client: SidecarClient, plan: Plan, first: Utterance) -> None:
        """What needs more than one utterance. Nothing of it is played."""
        session, options = self._session, self._session.options
        with context.check("speed_warm"):
            utterances = speak_repeatedly(context, session, client, plan, options.repeat, first)
            judge_repeats(context, session, utterances)
        with context.check("gaps"):
            judge_gaps(context, plan, utterances)
        if options.level == "quick":
            with context.check("round_trip"):
                context.finding("tts.quick", Outcome.SKIPPED)
        else:
            self._measure_more(context, client, plan, utterances)
        if options.compare_concurrency:
            compare_concurrency(context, session, client)

    def _measure_more(
        self, context: StageContext, client: SidecarClient, plan: Plan, utterances: Sequence[Utterance]
    ) -> None:
        session, options = self._session, self._session.options
        other = SMALL_BLOCKS if options.chunk_seconds != SMALL_BLOCKS else USUAL_BLOCKS
        other_plan = main_plan(session, other, "_other_blocks")
        measure_series(context, session, client, "other_blocks", other_plan, min(2, options.repeat))
        presets = ("first",) if options.level == "standard" else ("first", "short", "long")
        for name in presets:
            preset = preset_plan(session, name)
            measure_series(context, session, client, f"preset_{name}", preset, options.repeat)
        round_trip(context, session, client, plan, utterances)
        with context.check("interruption"):
            measure_interruption(context, session, client)


def _outline(stage: str, block: Block) -> ev.AudioBlockReceived:
    """The block as the faces draw it."""
    from rocm_wizard.audio.signal import envelope

    seconds = len(block.chunk.samples) / block.chunk.sample_rate
    outline = envelope(block.chunk.samples, max(1, round(seconds * _ENVELOPE_POINTS_A_SECOND)))
    peaks = [round(float(peak), 3) for peak in outline]
    return ev.AudioBlockReceived(stage, block.index, block.seconds, seconds, peaks, block.chunk.text)


def _finish_playback(context: StageContext, utterance: Utterance, player: Player | None) -> None:
    with context.check("playback"):
        if player is not None:
            player.finish(utterance.seconds_with_pauses)
        played = report_playback(context, player, utterance.real_time_factor)
    if played:
        with context.check("heard"):
            ask_heard(context, player)
