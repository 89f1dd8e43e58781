"""The embedded voices behind one engine: English on the chosen device, Japanese on the CPU."""

from collections.abc import Mapping
from typing import ClassVar

import torch

from rocm_wizard.speech.embedded_tts import EmbeddedVoice
from rocm_wizard.speech.open_jtalk import OpenJTalkVoice
from rocm_wizard.speech.serve import Message
from rocm_wizard.speech.speaker import Speaker
from rocm_wizard.speech.tts_request import TtsRequest


class EmbeddedEngine:
    """See `speaker.VoiceEngine`. Raises LoadFailure when the packaged voice is missing or changed."""

    languages: ClassVar[Mapping[str, str]] = {"ja": "ja", "日文": "ja", "en": "en", "英文": "en"}

    def __init__(self, device: torch.device) -> None:
        self._english = EmbeddedVoice(device)
        self._japanese = OpenJTalkVoice()

    def speaker(self, asked: TtsRequest) -> Speaker:
        """See `speaker.VoiceEngine.speaker`."""
        if asked.language != "ja":
            return self._english
        return self._japanese

    def facts(self) -> Message:
        """See `speaker.VoiceEngine.facts`."""
        voice = self._english
        return {
            "voice": voice.voice,
            "sample_rate": voice.sample_rate,
            "weights_sha256": voice.sha256,
            "device_note": self._japanese.note,
        }

    def warm_up(self) -> int:
        """See `speaker.VoiceEngine.warm_up`."""
        return self._english.warm_up()
