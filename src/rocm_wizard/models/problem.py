"""What can be wrong with a model file, as a closed set of kinds with their facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

type Fact = str | int | float | bool | list[str] | None

_SHOWN = 160


class Kind(StrEnum):
    """The kinds of problem; each is the last part of a finding's id, `models.<kind>`."""

    # any file
    MISSING = "missing"
    BROKEN_LINK = "broken_link"
    NOT_A_FILE = "not_a_file"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    LFS_POINTER = "lfs_pointer"
    ANNEX_POINTER = "annex_pointer"
    WEB_PAGE = "web_page"
    PLAIN_TEXT = "plain_text"
    ZEROS = "zeros"
    UNFINISHED = "unfinished"
    ARCHIVE = "archive"
    ZIP_BROKEN = "zip_broken"
    JSON_BROKEN = "json_broken"
    TEXT_BROKEN = "text_broken"
    # safetensors
    SAFETENSORS_HEADER = "safetensors_header"
    SAFETENSORS_TENSOR = "safetensors_tensor"
    SAFETENSORS_OVERLAP = "safetensors_overlap"
    SAFETENSORS_HOLE = "safetensors_hole"
    SAFETENSORS_TRUNCATED = "safetensors_truncated"
    SAFETENSORS_TRAILING = "safetensors_trailing"
    INDEX_BROKEN = "index_broken"
    SHARD_MISSING = "shard_missing"
    SHARD_TENSOR = "shard_tensor"
    SHARD_UNLISTED = "shard_unlisted"
    # torch files
    TORCH_HEAD = "torch_head"
    TORCH_LEGACY = "torch_legacy"
    TORCH_TRUNCATED = "torch_truncated"
    TORCH_DAMAGED = "torch_damaged"
    TORCH_NO_CONTENTS = "torch_no_contents"
    TORCH_SCRIPT = "torch_script"
    TORCH_STORAGE = "torch_storage"
    TORCH_TENSOR = "torch_tensor"
    SAFETENSORS_INSTEAD = "safetensors_instead"
    PICKLE_HOSTILE = "pickle_hostile"
    PICKLE_BROKEN = "pickle_broken"
    PICKLE_LARGE = "pickle_large"
    # GPT-SoVITS
    UNKNOWN_CONTENTS = "unknown_contents"
    TRAINING_STATE = "training_state"
    WRONG_ROLE = "wrong_role"
    WRONG_VERSION = "wrong_version"
    HEAD_CONTRADICTS = "head_contradicts"
    CONFIG_CONTRADICTS = "config_contradicts"
    VERSION_ASSUMED = "version_assumed"
    TENSORS_MISSING = "tensors_missing"
    TENSOR_SHAPE = "tensor_shape"
    UNUSUAL_SIZE = "unusual_size"
    LORA_RANK = "lora_rank"
    LORA_NO_BASE = "lora_no_base"
    PAIR_PHONEMES = "pair_phonemes"
    PAIR_WIDTH = "pair_width"
    FOLDER_CONFIG = "folder_config"
    NO_WEIGHTS = "no_weights"
    HOST_FILE = "host_file"
    LEGACY_WEIGHTS = "legacy_weights"
    BERT_MISSING = "bert_missing"
    NLTK_MISSING = "nltk_missing"
    NLTK_PART = "nltk_part"
    NLTK_OLD_TAGGER = "nltk_old_tagger"
    # the reference recording
    REFERENCE_UNREADABLE = "reference_unreadable"
    REFERENCE_SHORT = "reference_short"
    REFERENCE_LONG = "reference_long"
    REFERENCE_RATE = "reference_rate"
    REFERENCE_SILENT = "reference_silent"
    REFERENCE_CLIPPED = "reference_clipped"
    REFERENCE_NO_TEXT = "reference_no_text"
    # Qwen3-ASR
    ASR_SHARDED = "asr_sharded"
    ASR_CODE = "asr_code"
    ASR_OTHER_MODEL = "asr_other_model"
    ASR_VOCABULARY = "asr_vocabulary"
    ASR_SHAPE = "asr_shape"
    ASR_TENSORS = "asr_tensors"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of one file or folder. `fatal` False: it may still load; the person should know."""

    kind: Kind
    file: Path
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    fatal: bool = True


class Refused(Exception):
    """A file that cannot be read on; carries its problem."""

    def __init__(self, kind: Kind, file: Path, **facts: Fact) -> None:
        super().__init__(str(kind))
        self.problem = Problem(kind, file, facts)


def shown(value: object) -> str:
    """Text out of a file as a fact: no surrogates, no line ends, at most 160 characters."""
    text = " ".join(str(value).encode("utf-8", "backslashreplace").decode("utf-8").split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def reason_of(error: OSError) -> str:
    """The system's words without the path, which may be private."""
    return error.strerror or type(error).__name__


def told(problem: Problem) -> str:
    """The problem in a line for a sidecar's error; the wizard has better words, in the string tables."""
    facts = ", ".join(f"{name} {value}" for name, value in problem.facts.items() if value is not None)
    return f"{problem.file.name}: {problem.kind.replace('_', ' ')}" + (f" ({facts})" if facts else "")
