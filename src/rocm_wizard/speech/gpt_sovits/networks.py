"""The three networks that turn phonemes into sound, together on one device."""

from dataclasses import dataclass

import torch

from rocm_wizard.speech.gpt_sovits.bigvgan import BigVgan, BigVganConfig
from rocm_wizard.speech.gpt_sovits.sovits import SovitsConfig, SovitsV3
from rocm_wizard.speech.gpt_sovits.t2s import T2SConfig, T2SDecoder


@dataclass(frozen=True)
class Networks:
    """T2S decoder, SoVITS v3 (condition encoder and CFM) and the BigVGAN vocoder, in one dtype on one device."""

    t2s: T2SDecoder
    sovits: SovitsV3
    vocoder: BigVgan
    device: torch.device
    dtype: torch.dtype


def compute_dtype(device: torch.device) -> torch.dtype:
    """Half precision on a GPU, as the host's engine; float32 on the CPU and on MPS."""
    return torch.float16 if device.type == "cuda" else torch.float32


def random_networks(
    device: torch.device,
    seed: int,
    *,
    t2s: T2SConfig | None = None,
    sovits: SovitsConfig | None = None,
    vocoder: BigVganConfig | None = None,
) -> Networks:
    """Networks with seeded random weights, full-size unless configurations are given: they cost what real ones cost.

    The sound is noise. The weights are drawn on the CPU, so that a seed means the same networks on every device.
    """
    dtype = compute_dtype(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        built = (
            T2SDecoder(t2s or T2SConfig()),
            SovitsV3(sovits or SovitsConfig()),
            BigVgan(vocoder or BigVganConfig()),
        )
    decoder, synthesiser, generator = (network.eval().to(device, dtype) for network in built)
    assert isinstance(decoder, T2SDecoder) and isinstance(synthesiser, SovitsV3) and isinstance(generator, BigVgan)
    return Networks(decoder, synthesiser, generator, device, dtype)
