"""What a GPT-SoVITS checkpoint is: its family and version by its mark, its contents and its configuration."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_wizard.models.book import load_book, load_layout
from rocm_wizard.models.layouts import compare_layout, count_layers, remove_weight_norm
from rocm_wizard.models.problem import Kind, Problem, Refused, reason_of, shown
from rocm_wizard.models.tensors import Tensor
from rocm_wizard.models.torch_file import PLAIN_HEAD, TorchFile, dig, read_torch

GPT, SOVITS = "GPT", "SoVITS"
_TEXT_ROWS = "ar_text_embedding.word_embeddings.weight"
_SOVITS_ROWS = "enc_p.text_embedding.weight"
_HASHED = 8192
_PRO_PLUS_CHANNELS = 768
"""Channels that the v2ProPlus decoder begins with; v2Pro's has 512 (`configs/s2v2ProPlus.json`)."""
_KEYS_NAMED = 8


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A recognised checkpoint.

    Attributes:
        family: `GPT` (the semantic T2S decoder) or `SoVITS`.
        version: v1, v2 (GPT: of v2 and everything later), v3, v4, v2Pro, v2ProPlus.
        lora: it changes a base file instead of standing alone.
        tensors: GPT names without their prefix `model.`.
        rank: of the LoRA, None where there is none or it is not said.
    """

    path: Path
    size: int
    family: str
    version: str
    lora: bool
    tensors: Mapping[str, Tensor]
    rank: int | None = None

    @property
    def name(self) -> str:
        """What it is, in the field's own words."""
        return f"{self.family} {self.version}" + (" LoRA" if self.lora else "")

    @property
    def first_symbols(self) -> bool:
        """Whether it speaks the first version's phoneme symbols, which no later network knows."""
        return self.version == "v1"


def read_checkpoint(path: Path) -> tuple[Checkpoint, list[Problem]]:
    """What the file is, and what in it contradicts itself. Raises Refused when it is no checkpoint to speak with."""
    file = read_torch(path, tuple(load_book()["head"]))
    state = file.state("weight")
    if f"model.{_TEXT_ROWS}" in state:
        return _gpt(file, state)
    if any(name.startswith(("enc_p.", "cfm.")) for name in state) and "enc_p.emb_phone.weight" not in state:
        return _sovits(file, state)
    raise _unknown(file, state)


def _unknown(file: TorchFile, state: Mapping[str, Tensor]) -> Refused:
    keys = [shown(key) for key in file.keys[:_KEYS_NAMED]]
    if "enc_p.emb_phone.weight" in state:
        return Refused(Kind.WRONG_ROLE, file.path, found="RVC", needed="GPT-SoVITS")
    if file.state("generator"):
        return Refused(Kind.WRONG_ROLE, file.path, found="BigVGAN", needed="GPT-SoVITS")
    if file.state("state_dict") or (file.state("model") and {"optimizer", "iteration"} & set(file.keys)):
        # The training's own state (`logs/.../ckpt`, `G_*.pth`): the weights to speak with are saved apart from it.
        return Refused(Kind.TRAINING_STATE, file.path, keys=keys)
    return Refused(Kind.UNKNOWN_CONTENTS, file.path, keys=keys)


def _gpt(file: TorchFile, state: Mapping[str, Tensor]) -> tuple[Checkpoint, list[Problem]]:
    tensors = {name.removeprefix("model."): tensor for name, tensor in state.items()}
    rows = tensors[_TEXT_ROWS].shape[:1]
    version = load_book()["phonemes"]["gpt"].get(str(rows[0]) if rows else "", "v2")
    layout = load_layout("t2s")
    if version == "v1":
        layout = layout.with_shape(_TEXT_ROWS, (int(rows[0]), *layout.shapes[_TEXT_ROWS][1:]))
    problems = compare_layout(file.path, tensors, layout)
    said = dig(file.value, "config", "model", "n_layer")
    found = count_layers(tensors, "h.layers.")
    if isinstance(said, int) and said != found and not any(problem.fatal for problem in problems):
        facts = {"count": abs(said - found), "total": said, "tensors": [f"h.layers.{min(said, found)}"]}
        problems = [Problem(Kind.TENSORS_MISSING, file.path, facts)]
    if file.head != PLAIN_HEAD:
        entry = load_book()["head"][file.head]
        facts = {"head": file.head, "says": f"SoVITS {entry['version']}", "found": f"GPT {version}"}
        problems.append(Problem(Kind.HEAD_CONTRADICTS, file.path, facts))
    return Checkpoint(file.path, file.size, GPT, version, False, tensors), problems


def _sovits(file: TorchFile, state: Mapping[str, Tensor]) -> tuple[Checkpoint, list[Problem]]:
    lora = any(".lora_A." in name for name in state)
    version = _version_of_contents(state)
    problems: list[Problem] = []
    if version is None:
        version, sure = _version_of_flow(file)
        if not sure:
            problems.append(Problem(Kind.VERSION_ASSUMED, file.path, {"version": version}, fatal=False))
    rank = dig(file.value, "lora_rank")
    rank = rank if isinstance(rank, int) and not isinstance(rank, bool) else None
    checkpoint = Checkpoint(file.path, file.size, SOVITS, version, lora, state, rank)
    problems += _contradictions(file, checkpoint)
    if lora:
        problems += _rank_problem(checkpoint)
    elif version in ("v3", "v4"):
        problems += compare_layout(file.path, remove_weight_norm(state), load_layout("sovits_v3"))
    return checkpoint, problems


def _version_of_contents(state: Mapping[str, Tensor]) -> str | None:
    """The version that the tensors alone tell; None for the networks with flow matching, v3 and v4."""
    if any(name.startswith("cfm.") for name in state):
        return None
    if "sv_emb.weight" in state:
        first = state.get("dec.conv_pre.weight")
        plus = first is not None and first.shape[:1] == (_PRO_PLUS_CHANNELS,)
        return "v2ProPlus" if plus else "v2Pro"
    rows = state[_SOVITS_ROWS].shape[:1] if _SOVITS_ROWS in state else ()
    return load_book()["phonemes"]["sovits"].get(str(rows[0]) if rows else "", "v2")


def _version_of_flow(file: TorchFile) -> tuple[str, bool]:
    """v3 or v4: their tensors are the same. By the mark, by the published base files, by the configuration.

    The second value is False where none of them says so: then it is v3, as the host takes it.
    """
    book = load_book()
    if file.head in book["head"] and book["head"][file.head]["version"] in ("v3", "v4"):
        return book["head"][file.head]["version"], True
    try:
        with file.path.open("rb") as opened:
            known = book["pretrained"].get(hashlib.md5(opened.read(_HASHED), usedforsecurity=False).hexdigest())
    except OSError as error:
        raise Refused(Kind.UNREADABLE, file.path, reason=reason_of(error)) from error
    said = known or dig(file.value, "config", "model", "version")
    return (said, True) if said in ("v3", "v4") else ("v3", False)


def _contradictions(file: TorchFile, found: Checkpoint) -> list[Problem]:
    problems: list[Problem] = []
    entry = load_book()["head"].get(file.head)
    if entry is not None:
        says = f"SoVITS {entry['version']}" + (" LoRA" if entry["lora"] else "")
        if says != found.name:
            facts = {"head": file.head, "says": says, "found": found.name}
            problems.append(Problem(Kind.HEAD_CONTRADICTS, file.path, facts))
    elif found.lora:
        # Without its mark the host takes a file of this size for a whole one of v1 or v2.
        facts = {"head": file.head, "says": "SoVITS v1, v2", "found": found.name}
        problems.append(Problem(Kind.HEAD_CONTRADICTS, file.path, facts))
    said: Any = dig(file.value, "config", "model", "version")
    if isinstance(said, str) and said != found.version:
        facts = {"says": shown(said), "found": found.name}
        problems.append(Problem(Kind.CONFIG_CONTRADICTS, file.path, facts, fatal=False))
    return problems


def _rank_problem(found: Checkpoint) -> list[Problem]:
    ranks = {
        *(tensor.shape[0] for name, tensor in found.tensors.items() if ".lora_A." in name and tensor.shape),
        *(tensor.shape[-1] for name, tensor in found.tensors.items() if ".lora_B." in name and tensor.shape),
    }
    if ranks == {found.rank}:
        return []
    facts = {"said": found.rank, "found": ", ".join(map(str, sorted(ranks)))}
    return [Problem(Kind.LORA_RANK, found.path, facts)]
