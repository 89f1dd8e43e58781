"""The files of a GPT-SoVITS v3 voice together: each by itself, then whether they belong to each other."""

from dataclasses import dataclass
from pathlib import Path

from rocm_wizard.models.book import language_group, load_book
from rocm_wizard.models.companions import Companion, read_bigvgan, read_companion, read_nltk
from rocm_wizard.models.gpt_sovits import GPT, SOVITS, Checkpoint, read_checkpoint
from rocm_wizard.models.problem import Kind, Problem, Refused
from rocm_wizard.models.recognised import Inspection, recognise
from rocm_wizard.models.tensors import Tensor

_SEMANTIC = "quantizer.vq.layers.0._codebook.embed"
_LORA_PREFIX = "cfm.base_model.model."


@dataclass(frozen=True, slots=True)
class TtsModelFiles:
    """What a voice is loaded from.

    Attributes:
        gpt, sovits: the two checkpoints.
        base: `s2Gv3.pth`, needed for a LoRA only.
        bigvgan, hubert, bert, nltk: folders; `bert` is needed for Chinese, `nltk` for good English.
        reference, reference_text: the recording of 3 to 10 s and what is said in it.
        language: of the text to speak, as the host or the engine call it.
    """

    gpt: Path
    sovits: Path
    base: Path | None
    bigvgan: Path
    hubert: Path
    bert: Path | None
    nltk: Path | None
    reference: Path
    reference_text: str
    language: str


def inspect_tts_files(files: TtsModelFiles) -> Inspection:
    """Looks at everything but the reference recording. Never raises for what the files hold."""
    found = Inspection()
    gpt = _checkpoint(found, files.gpt, GPT)
    sovits = _checkpoint(found, files.sovits, SOVITS)
    base = _base(found, files, sovits)
    bigvgan = _companion(found, *read_bigvgan(files.bigvgan))
    hubert = _companion(found, *read_companion("hubert", files.hubert))
    group = language_group(files.language)
    bert = None
    if files.bert is not None:
        bert = _companion(found, *read_companion("bert", files.bert))
    elif group == "zh":
        found.problems.append(Problem(Kind.BERT_MISSING, Path(load_book()["place"]["bert"])))
    if group == "en":
        place = files.nltk or Path(load_book()["place"]["nltk"])
        found.problems += read_nltk(files.nltk) if files.nltk else [Problem(Kind.NLTK_MISSING, place, fatal=False)]
    whole = base if sovits is not None and sovits.lora else sovits
    found.problems += _version_problems(gpt, sovits)
    found.problems += _width_problems(gpt, whole, bigvgan, hubert, bert)
    if sovits is not None and sovits.lora and base is not None:
        found.problems += _lora_problems(sovits, base)
    return found


def _checkpoint(found: Inspection, path: Path, family: str) -> Checkpoint | None:
    try:
        checkpoint, problems = read_checkpoint(path)
    except Refused as refused:
        found.problems.append(refused.problem)
        return None
    if checkpoint.family != family:
        found.problems.append(Problem(Kind.WRONG_ROLE, path, {"found": checkpoint.name, "needed": family}))
        return None
    found.problems += problems
    if not any(problem.fatal for problem in problems):
        found.recognised.append(recognise(path, checkpoint.name, checkpoint.size, checkpoint.tensors))
    return checkpoint


def _base(found: Inspection, files: TtsModelFiles, sovits: Checkpoint | None) -> Checkpoint | None:
    if sovits is None or not sovits.lora:
        return None
    if files.base is None:
        facts = {"found": sovits.name, "needed": load_book()["place"]["base"]}
        found.problems.append(Problem(Kind.LORA_NO_BASE, files.sovits, facts))
        return None
    base = _checkpoint(found, files.base, SOVITS)
    if base is not None and (base.lora or base.version != sovits.version):
        needed = f"{SOVITS} {sovits.version}"
        found.problems.append(Problem(Kind.WRONG_VERSION, files.base, {"found": base.name, "needed": needed}))
        return None
    return base


def _companion(found: Inspection, companion: Companion | None, problems: list[Problem]) -> Companion | None:
    found.problems += problems
    if companion is not None and not any(problem.fatal for problem in problems):
        found.recognised.append(recognise(companion.path, companion.name, companion.size, companion.tensors))
        return companion
    return None


def _version_problems(gpt: Checkpoint | None, sovits: Checkpoint | None) -> list[Problem]:
    problems: list[Problem] = []
    spoken = load_book()["engine"]["sovits"]
    if sovits is not None and sovits.version != spoken:
        needed = f"{SOVITS} {spoken}, {SOVITS} {spoken} LoRA"
        problems.append(Problem(Kind.WRONG_VERSION, sovits.path, {"found": sovits.name, "needed": needed}))
    if gpt is not None and sovits is not None and gpt.first_symbols != sovits.first_symbols:
        needed = f"{GPT} v1" if sovits.first_symbols else f"{GPT} v2"
        facts = {"found": gpt.name, "other": sovits.name, "needed": needed}
        problems.append(Problem(Kind.PAIR_PHONEMES, gpt.path, facts))
    return problems


def _width_problems(
    gpt: Checkpoint | None,
    sovits: Checkpoint | None,
    bigvgan: Companion | None,
    hubert: Companion | None,
    bert: Companion | None,
) -> list[Problem]:
    """Numbers that one network gives and another takes."""
    problems: list[Problem] = []

    def compare(one: Checkpoint | Companion | None, gives: object, other: Checkpoint | None, takes: int | None) -> None:
        if one is not None and other is not None and isinstance(gives, int) and takes is not None and gives != takes:
            facts = {"name": one.name, "found": gives, "needed": takes, "other": other.name}
            problems.append(Problem(Kind.PAIR_WIDTH, one.path, facts))

    compare(hubert, hubert and hubert.config.get("hidden_size"), sovits, _axis(sovits, "ssl_proj.weight", 1))
    compare(bert, bert and bert.config.get("hidden_size"), gpt, _axis(gpt, "bert_proj.weight", 1))
    compare(
        bigvgan, bigvgan and bigvgan.config.get("num_mels"), sovits, _axis(sovits, "cfm.estimator.proj_out.weight", 0)
    )
    tokens = _axis(gpt, "ar_audio_embedding.word_embeddings.weight", 0)
    # One token more than the codebook has entries: the end of the utterance.
    compare(gpt, tokens and tokens - 1, sovits, _axis(sovits, _SEMANTIC, 0))
    return problems


def _axis(checkpoint: Checkpoint | None, name: str, axis: int) -> int | None:
    tensor: Tensor | None = checkpoint.tensors.get(name) if checkpoint is not None else None
    return tensor.shape[axis] if tensor is not None and len(tensor.shape) > axis else None


def _lora_problems(lora: Checkpoint, base: Checkpoint) -> list[Problem]:
    """Whether each low-rank pair has a weight of its shape in the base."""
    for name, down in lora.tensors.items():
        if ".lora_A." not in name:
            continue
        up = lora.tensors.get(name.replace(".lora_A.", ".lora_B."))
        target = f"{name.replace(_LORA_PREFIX, 'cfm.').partition('.lora_A.')[0]}.weight"
        wanted = base.tensors.get(target)
        if up is None or wanted is None or wanted.shape != (*up.shape[:1], *down.shape[1:]):
            facts = {"count": 1, "total": len(lora.tensors), "tensors": [target]}
            return [Problem(Kind.TENSORS_MISSING, lora.path if up is None else base.path, facts)]
    return []
