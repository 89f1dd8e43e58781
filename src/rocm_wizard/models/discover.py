"""Where a person's model files are: named by an option, by a setting of the checkout, or in the checkout's folders."""

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rocm_wizard.models.book import language_group, load_book
from rocm_wizard.models.tts_models import TtsModelFiles

type Source = Literal["option", "setting", "checkout"]

_DEEPEST = 8
_MOST_ENTRIES = 20_000
_MOST_FILES = 200
_CHECKPOINTS = {"gpt": ("TTS_GPT_MODEL_PATH", ".ckpt"), "sovits": ("TTS_SOVITS_MODEL_PATH", ".pth")}
_REFERENCES = {"ja": "JA", "en": "EN", "zh": "ZH", "mixed": "JA"}


@dataclass(frozen=True, slots=True)
class Found:
    """A path, which need not exist where a person named it, and who named it."""

    path: Path
    source: Source


@dataclass(frozen=True, slots=True)
class Pretrained:
    """Where the pretrained models of every voice are or should be; None: not there, and not always needed."""

    base: Path | None
    bigvgan: Path
    hubert: Path
    bert: Path | None


@dataclass(frozen=True, slots=True)
class TtsWish:
    """What the person named; None is looked for. `pretrained`: folder with BigVGAN, HuBERT, RoBERTa and `s2Gv3.pth`."""

    gpt: Path | None = None
    sovits: Path | None = None
    pretrained: Path | None = None
    nltk: Path | None = None
    reference: Path | None = None
    reference_text: str | None = None


@dataclass(frozen=True, slots=True)
class TtsSearch:
    """The outcome of a search.

    Attributes:
        files: None while a role has no file.
        sources: who named the file of each role.
        missing: roles (`gpt`, `sovits`, `reference`) without a file.
        candidates: for a missing checkpoint, the files in the checkout of which the person has to choose one.
    """

    files: TtsModelFiles | None
    sources: Mapping[str, Source]
    missing: tuple[str, ...]
    candidates: Mapping[str, tuple[Path, ...]] = field(default_factory=dict[str, tuple[Path, ...]])


def find_asr_folder(root: Path, settings: Mapping[str, str], given: Path | None = None) -> Found | None:
    """The Qwen3-ASR folder; relative paths count from `root`, the checkout. None: nobody named one, none is there."""
    named = _named(root, given, settings.get("QWEN3_ASR_MODEL_PATH"))
    if named is not None:
        return Found(snapshot(named.path), named.source)
    usual = root / load_book()["place"]["asr"]
    return Found(snapshot(usual), "checkout") if usual.is_dir() else None


def find_tts_files(root: Path, settings: Mapping[str, str], wish: TtsWish, language: str) -> TtsSearch:
    """The files of a GPT-SoVITS voice. A checkpoint is taken from the checkout only where it is the only one there."""
    sources: dict[str, Source] = {}
    candidates: dict[str, tuple[Path, ...]] = {}
    paths: dict[str, Path] = {}
    for role, given in (("gpt", wish.gpt), ("sovits", wish.sovits)):
        named, there = find_checkpoint(root, settings, role, given)
        candidates |= {role: there} if len(there) > 1 else {}
        if named is not None:
            paths[role], sources[role] = named.path, named.source
    reference, text = find_reference(root, settings, wish.reference, wish.reference_text, language)
    if reference is not None:
        paths["reference"], sources["reference"] = reference.path, reference.source
    missing = tuple(role for role in ("gpt", "sovits", "reference") if role not in paths)
    files = None if missing else _files(root, settings, wish, paths, text, language)
    return TtsSearch(files, sources, missing, candidates)


def find_checkpoint(
    root: Path, settings: Mapping[str, str], role: str, given: Path | None = None
) -> tuple[Found | None, tuple[Path, ...]]:
    """The `gpt` or `sovits` file, and what lies in the checkout where nobody named one; only a single one is taken."""
    variable, suffix = _CHECKPOINTS[role]
    named = _named(root, given, settings.get(variable))
    if named is not None:
        return named, ()
    there = [file for folder in load_book()["place"][role] for file in find_checkpoints(root / folder, suffix)]
    return (Found(there[0], "checkout") if len(there) == 1 else None), tuple(there)


def find_reference(
    root: Path, settings: Mapping[str, str], given: Path | None, text: str | None, language: str
) -> tuple[Found | None, str]:
    """The recording whose voice is spoken with, and what is said in it: as given, else the language's settings.

    What the settings say of their recording is not said in another one.
    """
    audio_key, text_key = reference_keys(language)
    stated = _named(root, None, settings.get(audio_key))
    named = _named(root, given, None) or stated
    if text is None:
        same = named is not None and stated is not None and _same_file(named.path, stated.path)
        text = settings.get(text_key, "") if given is None or same else ""
    return named, text


def _same_file(one: Path, other: Path) -> bool:
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


def reference_keys(language: str) -> tuple[str, str]:
    """The settings that name the recording for a language, and what is said in it."""
    suffix = _REFERENCES.get(language_group(language) or "mixed", "JA")
    return f"TTS_REF_AUDIO_{suffix}", f"TTS_REF_TEXT_{suffix}"


def find_pretrained(root: Path, given: Path | None = None) -> Pretrained:
    """What every voice needs, in the folder that was named, else in the first usual one that is there."""
    place = load_book()["place"]
    folders = [root / folder for folder in place["pretrained"]]
    usual = next((folder for folder in folders if folder.is_dir()), folders[0])
    folder = root / given.expanduser() if given is not None else usual
    bert, base = snapshot(folder / place["bert"]), folder / place["base"]
    return Pretrained(
        base=base if base.exists() else None,
        bigvgan=snapshot(folder / place["bigvgan"]),
        hubert=snapshot(folder / place["hubert"]),
        bert=bert if bert.exists() else None,
    )


def find_nltk(root: Path, settings: Mapping[str, str], given: Path | None = None) -> Path | None:
    """The folder with NLTK's data: the named one, else the first that is there."""
    if given is not None:
        return root / given.expanduser()
    # NLTK takes a list of folders, as PATH is one.
    listed = [part for part in settings.get("NLTK_DATA", "").split(os.pathsep) if part.strip()]
    folders = [root / Path(part.strip()).expanduser() for part in listed] + [root / load_book()["place"]["nltk"]]
    return next((folder for folder in folders if folder.is_dir()), None)


def find_checkpoints(folder: Path, suffix: str) -> list[Path]:
    """Files with the suffix under a folder, sorted. Links are followed, a folder is entered once."""
    return sorted(path for path in _walk(folder) if path.suffix.casefold() == suffix)[:_MOST_FILES]


def snapshot(folder: Path) -> Path:
    """The one snapshot inside a folder of the Hugging Face cache, else the folder itself."""
    inside = folder / "snapshots"
    try:
        if (folder / "config.json").exists() or not inside.is_dir():
            return folder
        snapshots = [path for path in inside.iterdir() if path.is_dir()]
    except (OSError, ValueError):
        return folder
    return snapshots[0] if len(snapshots) == 1 else folder


def _walk(folder: Path) -> Iterator[Path]:
    waiting, seen, left = [(folder, 0)], set[str](), _MOST_ENTRIES
    while waiting:
        current, depth = waiting.pop()
        try:
            real = os.path.realpath(current)
            if real in seen:
                continue
            seen.add(real)
            entries = [(entry, entry.is_dir()) for entry in itertools.islice(current.iterdir(), left)]
        except (OSError, ValueError):
            continue
        left -= len(entries)
        if depth < _DEEPEST:
            waiting += [(entry, depth + 1) for entry, is_folder in entries if is_folder]
        yield from (entry for entry, is_folder in entries if not is_folder)


def _named(root: Path, given: Path | None, setting: str | None) -> Found | None:
    if given is not None:
        return Found(root / given.expanduser(), "option")
    text = (setting or "").strip()
    return Found(root / Path(text).expanduser(), "setting") if text else None


def _files(
    root: Path, settings: Mapping[str, str], wish: TtsWish, paths: Mapping[str, Path], text: str, language: str
) -> TtsModelFiles:
    pretrained = find_pretrained(root, wish.pretrained)
    return TtsModelFiles(
        gpt=paths["gpt"],
        sovits=paths["sovits"],
        base=pretrained.base,
        bigvgan=pretrained.bigvgan,
        hubert=pretrained.hubert,
        bert=pretrained.bert,
        nltk=find_nltk(root, settings, wish.nltk),
        reference=paths["reference"],
        reference_text=text,
        language=language,
    )
