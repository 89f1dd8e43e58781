"""SoVITS v3: condition features of a sentence, its voice's style, and the CFM that makes mels of them."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from rocm_wizard.speech.gpt_sovits.cfm import Cfm
from rocm_wizard.speech.gpt_sovits.condition import STYLE_BINS, FeatureEncoder, SemanticEncoder, StyleEncoder
from rocm_wizard.speech.gpt_sovits.dit import DitConfig
from rocm_wizard.speech.gpt_sovits.semantic import Quantiser

UPSAMPLED = 1.875
"""Mel frames to one frame of the encoder, which has two to a semantic token."""


@dataclass(frozen=True)
class SovitsConfig:
    """Sizes; the defaults are those of every public v3 checkpoint."""

    channels: int = 192
    inner: int = 768
    heads: int = 2
    layers: int = 6
    kernel: int = 3
    phonemes: int = 732
    style: int = 512
    style_channels: int = 128
    style_bins: int = STYLE_BINS
    semantic: int = 768
    codes: int = 1024
    features: int = 512
    feature_layers: int = 8
    mels: int = 100
    dit: DitConfig = field(default_factory=DitConfig)


class SovitsV3(nn.Module):
    """The synthesiser without its vocoder."""

    def __init__(self, config: SovitsConfig) -> None:
        super().__init__()
        self.config = config
        self.enc_p = SemanticEncoder(
            config.semantic,
            config.channels,
            config.inner,
            config.heads,
            config.layers,
            config.kernel,
            config.phonemes,
            config.style,
        )
        self.ref_enc = StyleEncoder(config.style, config.style_channels, bins=config.style_bins)
        self.ssl_proj = nn.Conv1d(config.semantic, config.semantic, 2, stride=2)
        self.quantizer = Quantiser(config.codes, config.semantic)
        self.bridge = nn.Sequential(nn.Conv1d(config.channels, config.features, 1), nn.LeakyReLU())
        self.wns1 = FeatureEncoder(config.features, 5, config.feature_layers, config.style)
        self.cfm = Cfm(config.mels, config.features, config.dit)

    @torch.inference_mode()
    def semantic_codes(self, ssl: Tensor) -> Tensor:
        """HuBERT features [1, 768, T] at 50 a second to codes [1, T // 2] at 25 a second, int64."""
        return self.quantizer.codes(self.ssl_proj(ssl))

    @torch.inference_mode()
    def style(self, refer: Tensor) -> Tensor:
        """The linear spectrogram [1, 1025, F] of a recording to its style vector [1, W, 1]."""
        return self.ref_enc(refer)

    @torch.inference_mode()
    def features(self, codes: Tensor, phones: Tensor, ge: Tensor, speed: float = 1.0) -> Tensor:
        """Condition features of a whole sentence.

        Args:
            codes: [1, N] semantic codes.
            phones: [1, P] phoneme ids.
            ge: [1, W, 1] style vector.
            speed: 1 gives 3.75 mel frames for every code; a higher one fewer.

        Returns:
            [1, 512, M].
        """
        quantised = functional.interpolate(self.quantizer.features(codes), scale_factor=2, mode="nearest")
        frames = self.bridge(self.enc_p(quantised, phones, ge, speed))
        frames = functional.interpolate(frames, scale_factor=UPSAMPLED, mode="nearest")
        return self.wns1(frames, ge)
