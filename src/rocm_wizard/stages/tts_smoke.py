"""Step 6: a persistent child speaks in streamed blocks, which play while later ones are made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import Block, SidecarClient
from rocm_wizard.sidecar.launch import own_sidecar
from rocm_wizard.stages.playback import Player
from rocm_wizard.stages.playback_findings import ask_heard, report_playback
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar

_ENVELOPE_POINTS_A_SECOND = 20
_SILENT_DBFS = -60.0
_SECONDS_A_CHARACTER = (0.02, 0.6)
"""Speech far outside this range is not the sentence: about 15 characters a second is usual in English."""


class TtsSmokeStage:
    """Text in, blocks of sound out; made and heard are judged apart."""

    id = "tts_smoke"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        session = self._session
        command = session.options.tts_command
        spec = own_sidecar("tts", session.target.python, session.chosen, session.working_folder, command)
        player = Player(context, session) if session.options.play else None
        utterance = Utterance()
        try:
            with sidecar(context, session, spec) as client:
                with context.check("utterance"):
                    self._speak(context, client, utterance, player)
                _report_utterance(context, utterance)
                with context.check("signal"):
                    _report_signal(context, utterance, session.options.text)
                with context.check("file"):
                    self._keep(context, utterance)
                self._finish_playback(context, utterance, player)
        except SmokeFailed:
            return
        finally:
            if player is not None:
                player.close()

    def _speak(
        self, context: StageContext, client: SidecarClient, utterance: "Utterance", player: Player | None
    ) -> None:
        from rocm_wizard.audio.signal import envelope

        options = self._session.options
        for item in client.speak(_request(options.text, options.tts_language, options.chunk_seconds)):
            if not isinstance(item, Block):
                utterance.done = item
                break
            utterance.add(item)
            if player is not None:
                if item.index == 0:
                    player.open(item.chunk.sample_rate)
                player.play(item.chunk.samples)
            seconds = len(item.chunk.samples) / item.chunk.sample_rate
            outline = envelope(item.chunk.samples, max(1, round(seconds * _ENVELOPE_POINTS_A_SECOND)))
            peaks = [round(float(peak), 3) for peak in outline]
            context.emit(ev.AudioBlockReceived(context.stage, item.index, item.seconds, seconds, peaks))
        context.finding(
            "tts.utterance",
            Outcome.PASSED,
            blocks=len(utterance.blocks),
            seconds=round(utterance.seconds, 2),
            first_audio=round(utterance.first_audio, 3),
            rate=utterance.rate,
            engine_note=_engine_note(utterance.done),
        )

    def _keep(self, context: StageContext, utterance: "Utterance") -> None:
        from rocm_wizard.audio.wav import unused_path, write_wav

        path = unused_path(self._session.run_folder / "tts-smoke.wav")
        try:
            write_wav(path, utterance.samples(), utterance.rate)
        except OSError as error:
            reason = error.strerror or str(error)
            context.finding("tts.file_not_written", Outcome.WARNING, ["file"], file=str(path), reason=reason)
        else:
            context.finding("tts.file", Outcome.PASSED, ["file"], file=str(path), bytes=_size(path))

    def _finish_playback(self, context: StageContext, utterance: "Utterance", player: Player | None) -> None:
        with context.check("playback"):
            if player is not None:
                player.finish(utterance.seconds)
            played = report_playback(context, player, utterance.real_time_factor)
        if played:
            with context.check("heard"):
                ask_heard(context)


class Utterance:
    """The blocks of one utterance in the order of their arrival."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.done: Mapping[str, Any] = {}

    def add(self, block: Block) -> None:
        """Takes one block."""
        self.blocks.append(block)

    @property
    def rate(self) -> int:
        """Samples a second."""
        return self.blocks[0].chunk.sample_rate

    @property
    def seconds(self) -> float:
        """The length of the sound."""
        return sum(len(block.chunk.samples) for block in self.blocks) / self.rate

    @property
    def first_audio(self) -> float:
        """Seconds from the request to the first block."""
        return self.blocks[0].seconds

    @property
    def synthesis(self) -> float:
        """Seconds from the request to the last block."""
        return self.blocks[-1].seconds

    @property
    def real_time_factor(self) -> float:
        """Seconds of work a second of sound: below 1 is faster than real time."""
        return self.synthesis / self.seconds

    @property
    def longest_lag(self) -> float:
        """How far a player without any buffer would have run dry, in seconds: the worst late arrival of a block."""
        ready, worst = self.first_audio, 0.0
        for block in self.blocks:
            worst = max(worst, block.seconds - ready)
            ready = max(ready, block.seconds) + len(block.chunk.samples) / self.rate
        return worst

    def samples(self) -> Any:
        """All blocks as one float32 array."""
        import numpy as np

        return np.concatenate([block.chunk.samples for block in self.blocks])


def _request(text: str, language: str, chunk_seconds: float) -> dict[str, Any]:
    label = {"ja": "日文", "en": "英文"}.get(language, language)
    return {
        "text": text,
        "language": language,
        "speed": 1.0,
        "chunk_size_seconds": chunk_seconds,
        "options": {"text_language": label},
    }


def _engine_note(done: Mapping[str, Any]) -> str | None:
    note = done.get("device_note")
    return note if isinstance(note, str) else None


def _report_utterance(context: StageContext, utterance: Utterance) -> None:
    context.measure("tts.first_audio", utterance.first_audio, "s", phase="cold")
    context.measure("tts.synthesis", utterance.synthesis, "s", phase="cold")
    context.measure("tts.duration", utterance.seconds, "s")
    context.measure("tts.real_time_factor", utterance.real_time_factor, "", phase="cold")
    with context.check("speed"):
        slow = utterance.real_time_factor > 1
        context.finding(
            "tts.slower_than_real_time" if slow else "tts.speed",
            Outcome.WARNING if slow else Outcome.PASSED,
            real_time_factor=round(utterance.real_time_factor, 3),
            synthesis=round(utterance.synthesis, 3),
            seconds=round(utterance.seconds, 2),
            lag_ms=round(utterance.longest_lag * 1000),
        )


def _report_signal(context: StageContext, utterance: Utterance, text: str) -> None:
    from rocm_wizard.audio.signal import measure_signal

    signal = measure_signal(utterance.samples(), utterance.rate)
    shortest, longest = (limit * len(text) for limit in _SECONDS_A_CHARACTER)
    facts = {
        "rms_dbfs": round(signal.rms_dbfs, 1),
        "peak": round(signal.peak, 3),
        "clipped": signal.clipped,
        "seconds": round(utterance.seconds, 2),
        "characters": len(text),
    }
    if signal.rms_dbfs < _SILENT_DBFS:
        context.finding("tts.silent", Outcome.FAILED, **facts)
    elif not shortest <= utterance.seconds <= longest:
        context.finding("tts.duration_absurd", Outcome.FAILED, shortest=shortest, longest=longest, **facts)
    elif signal.clipped:
        context.finding("tts.clipped", Outcome.WARNING, **facts)
    else:
        context.finding("tts.signal", Outcome.PASSED, **facts)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
