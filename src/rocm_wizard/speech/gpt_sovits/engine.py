"""GPT-SoVITS v3 as a voice engine of the TTS sidecar: loads the person's files and speaks with their reference."""

import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch

from rocm_wizard.speech.devices import is_hip, synchronise
from rocm_wizard.speech.gpt_sovits.bert import load_bert
from rocm_wizard.speech.gpt_sovits.blocks import MOST_PROMPT_FRAMES, RATE
from rocm_wizard.speech.gpt_sovits.checkpoints import load_bigvgan, load_sovits, load_t2s
from rocm_wizard.speech.gpt_sovits.files import BERT, ModelFiles, check_files, usual_reference
from rocm_wizard.speech.gpt_sovits.graphs import GraphCheck, check_graphs
from rocm_wizard.speech.gpt_sovits.guard import RETRY_PENALTY, rejection
from rocm_wizard.speech.gpt_sovits.hubert import load_hubert
from rocm_wizard.speech.gpt_sovits.networks import Networks, compute_dtype
from rocm_wizard.speech.gpt_sovits.reference import ReferenceEncoder, ReferenceFeatures
from rocm_wizard.speech.gpt_sovits.settings import Settings, read_settings
from rocm_wizard.speech.gpt_sovits.synthesis import Prompt, Renderer, Rendering, reference_prompt
from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling
from rocm_wizard.speech.gpt_sovits.text.front_end import FrontEnd, Phones
from rocm_wizard.speech.gpt_sovits.text.split import split_text
from rocm_wizard.speech.serve import Message, RequestError
from rocm_wizard.speech.speaker import Block, StageTimes
from rocm_wizard.speech.tts_request import TtsRequest

TOKENS_A_SECOND = 50
"""By which the generation's limit is counted, though tokens really come at 25 a second."""
HIP_STEPS = 16
"""On HIP long utterances are refined with at most this many CFM steps."""


@dataclass(frozen=True)
class Voice:
    """Everything loaded that does not change from request to request."""

    networks: Networks
    front_end: FrontEnd
    references: ReferenceEncoder
    settings: Settings
    name: str
    most_seconds: float
    hip: bool
    has_bert: bool


class GptSovitsEngine:
    """See `speaker.VoiceEngine`."""

    languages: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("ja", "日文", "all_ja"), "all_ja"),
        **dict.fromkeys(("en", "英文"), "en"),
        **dict.fromkeys(("zh", "中文", "all_zh"), "all_zh"),
        "日英混合": "ja",
        "中英混合": "zh",
        "多语种混合": "auto",
        "auto": "auto",
    }

    def __init__(self, voice: Voice, environment: Mapping[str, str], graphs: GraphCheck) -> None:
        self._voice = voice
        self._environment = environment
        self._graphs = graphs

    def facts(self) -> Message:
        """See `speaker.VoiceEngine.facts`."""
        networks, settings = self._voice.networks, self._voice.settings
        return {
            "voice": self._voice.name,
            "sample_rate": RATE,
            "dtype": str(networks.dtype).removeprefix("torch."),
            "bucket_mels": settings.bucket_mels,
            "sync_timing": settings.sync_timing,
            "graphs": self._graphs.allowed,
            "graphs_note": self._graphs.note,
            "front_end_note": self._voice.front_end.note,
        }

    def speaker(self, asked: TtsRequest) -> "GptSovitsSpeaker":
        """See `speaker.VoiceEngine.speaker`."""
        if asked.super_resolution:
            raise RequestError("options.if_sr: this engine has no super-resolution; send false")
        if asked.language in ("all_zh", "zh") and not self._voice.has_bert:
            raise RequestError(f"Chinese needs the folder {BERT} beside the other pretrained models")
        if asked.graph and not self._graphs.allowed:
            raise RequestError(f"options.enable_cuda_graph: {self._graphs.note}")
        reference = asked.reference
        if not reference.path:
            path, text = usual_reference(reference.language or asked.language, self._environment)
            reference = replace(reference, path=path, text=text)
        if not reference.path:
            raise RequestError("reference_audio is missing: v3 speaks with the voice of a recording of 3 to 10 s")
        if not reference.text.strip():
            raise RequestError("reference_text is missing: v3 needs to know what is said in the reference recording")
        return GptSovitsSpeaker(self._voice, replace(asked, reference=reference), self._graphs)

    @torch.inference_mode()
    def warm_up(self) -> int:
        """See `speaker.VoiceEngine.warm_up`: one block of usual length through CFM and vocoder."""
        networks, started = self._voice.networks, time.perf_counter()
        rendering = Rendering(block_s=0.8, steps=1, bucket_mels=self._voice.settings.bucket_mels)

        def zeros(channels: int, frames: int) -> torch.Tensor:
            return torch.zeros(1, channels, frames, device=networks.device, dtype=networks.dtype)

        config, window = networks.sovits.config, MOST_PROMPT_FRAMES
        prompt = Prompt(zeros(config.mels, window), zeros(config.features, window))
        generator = torch.Generator(networks.device)
        for _ in Renderer(networks).stream(zeros(config.features, 75), prompt, rendering, generator, StageTimes()):
            pass
        synchronise(networks.device)
        self._spell_something()
        return round((time.perf_counter() - started) * 1000)

    def _spell_something(self) -> None:
        """Loads the dictionaries, which take up to two seconds at their first use; a broken one stops its language."""
        for text, language in (("はい", "ja"), ("Yes.", "en"), ("好", "zh")):
            if language != "zh" or self._voice.has_bert:
                try:
                    self._voice.front_end.phones(text, language)
                except RequestError as error:
                    print(f"warm-up of {language}: {error}", file=sys.stderr)


class GptSovitsSpeaker:
    """One request's voice: the reference's."""

    engine = "gpt_sovits"
    sample_rate = RATE

    def __init__(self, voice: Voice, asked: TtsRequest, graphs: GraphCheck) -> None:
        self._voice = voice
        self._asked = asked
        self._graphs = graphs.allowed and asked.graph
        self._phones: list[Phones] = []
        self._spoken = 0
        self._reference: ReferenceFeatures | None = None
        self.voice = voice.name
        self.device = str(voice.networks.device)
        self.note = voice.front_end.note if asked.language == "en" else ""

    def parts(self, text: str, times: StageTimes) -> list[str]:
        """Encodes the reference (once for each recording), cuts the text and spells every item."""
        reference = self._asked.reference
        with times.stage("reference"):
            self._reference = self._voice.references.features(Path(reference.path), reference.text, reference.language)
        with times.stage("g2p"):
            items = split_text(text, self._asked.cut)
            self._phones = [self._voice.front_end.phones(item, self._asked.language) for item in items]
        if not items:
            raise RequestError(f"nothing in the text can be spoken: {text[:80]!r}")
        return items

    @torch.inference_mode()
    def speak(self, part: str, speed: float, block_s: float, times: StageTimes) -> Iterator[Block]:
        """Blocks of the next item that `parts` returned."""
        assert self._reference is not None
        networks, reference = self._voice.networks, self._reference
        phones = self._phones[self._spoken]
        generator = torch.Generator(networks.device).manual_seed(self._seed() + self._spoken)
        self._spoken += 1
        with times.stage("t2s"):
            tokens = self._tokens(reference, phones, generator, times)
        with times.stage("encoder"):
            ids = torch.tensor([phones.ids], device=networks.device)
            features = networks.sovits.features(tokens[None], ids, reference.ge, speed)
            synchronise(networks.device)
        renderer = Renderer(networks)
        prompt = reference_prompt(reference.mel, reference.features)
        rendering = self._rendering(block_s)
        if block_s:
            blocks = renderer.stream(features, prompt, rendering, generator, times)
        else:
            blocks = iter((renderer.whole(features, prompt, rendering, generator, times),))
        text = part
        for block in blocks:
            yield replace(block, text=text)
            text = ""

    def _rendering(self, block_s: float) -> Rendering:
        settings, steps = self._voice.settings, self._asked.sampling.steps
        return Rendering(
            block_s=block_s,
            steps=min(steps, HIP_STEPS) if self._voice.hip else steps,
            bucket_mels=settings.bucket_mels,
            timed=settings.sync_timing or self._voice.networks.device.type == "cpu",
        )

    def _seed(self) -> int:
        asked = self._asked
        return asked.seed if asked.seed is not None else zlib.crc32(asked.text.encode("utf-8"))

    def _tokens(
        self, reference: ReferenceFeatures, phones: Phones, generator: torch.Generator, times: StageTimes
    ) -> torch.Tensor:
        networks, asked = self._voice.networks, self._asked
        ids = torch.tensor([reference.phones.ids + phones.ids], device=networks.device)
        bert = torch.cat([reference.phones.bert, phones.bert], dim=1)[None].to(networks.device, networks.dtype)
        limit = min(asked.most_s or self._voice.most_seconds, self._voice.most_seconds)
        most = max(1, int(TOKENS_A_SECOND * limit))
        usual = Sampling(asked.sampling.top_k, asked.sampling.top_p, asked.sampling.temperature)
        reason: str | None = None
        for sampling in (usual, replace(usual, repetition_penalty=RETRY_PENALTY)):
            made = networks.t2s.generate(
                ids,
                reference.prompt_codes,
                bert,
                sampling=sampling,
                most_tokens=most,
                generator=generator,
                graph=self._graphs,
            )
            times.count("t2s_tokens", made.tokens.numel())
            times.count("t2s_attempts", 1)
            reason = rejection(made.tokens.tolist(), len(phones.ids), most) if self._voice.settings.guard else None
            if reason is None and made.tokens.numel():
                return made.tokens
        raise RequestError(f"the semantic tokens collapsed twice ({reason or 'no tokens'}); no sound was made of them")


def load_engine(files: ModelFiles, device: torch.device, environment: Mapping[str, str]) -> GptSovitsEngine:
    """Loads every network. Raises LoadFailure naming the file and what is wrong with it."""
    check_files(files)
    dtype = compute_dtype(device)
    hip = is_hip() and device.type == "cuda"  # a ROCm torch computes on the CPU too
    settings = read_settings(environment, hip=hip)
    t2s, most_seconds = load_t2s(files.gpt, device, dtype)
    sovits = load_sovits(files.sovits, device, dtype, files.base)
    networks = Networks(t2s, sovits, load_bigvgan(files.bigvgan, device, dtype), device, dtype)
    bert = load_bert(files.bert, device, dtype) if files.bert is not None else None
    front_end = FrontEnd(files.nltk, bert, t2s.config.bert)
    references = ReferenceEncoder(load_hubert(files.hubert, device, dtype), sovits, front_end)
    graphs = check_graphs(t2s, settings.graphs)
    voice = Voice(networks, front_end, references, settings, files.sovits.stem, most_seconds, hip, bert is not None)
    return GptSovitsEngine(voice, environment, graphs)
