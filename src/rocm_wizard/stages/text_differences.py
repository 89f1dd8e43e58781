"""Where two texts differ, in plain characters that a terminal shows and a screen reader speaks.

The notation is that of `wdiff` and of `git diff --word-diff=plain`: `[-missing-]` stands in the first text only,
`{+added+}` in the second only. Nothing depends on colour.
"""

from collections.abc import Iterator, Sequence

from rocm_wizard.stages.error_rate import units
from rocm_wizard.stages.languages import Unit, unit_of


def marked_differences(reference: str, heard: str, language: str | None) -> str:
    """Both texts as they are counted (normalised), in one line, what differs marked.

    Dropping either kind of mark gives one of the two normalised texts back. The marks are the error rate's edits.
    """
    unit = unit_of(language, reference or heard)
    return mark(units(reference, language, unit), units(heard, language, unit), unit)


def written_units(text: str, unit: Unit) -> list[str]:
    """The words or characters as they were written, punctuation and case kept."""
    return text.split() if unit == "word" else list("".join(text.split()))


def mark(first: Sequence[str], second: Sequence[str], unit: Unit) -> str:
    """Two sequences of words or characters as one marked line."""
    joiner = " " if unit == "word" else ""
    parts: list[str] = []
    for same, ours, theirs in _runs(first, second):
        if same:
            parts.append(joiner.join(ours))
            continue
        parts += [f"[-{joiner.join(ours)}-]"] if ours else []
        parts += [f"{{+{joiner.join(theirs)}+}}"] if theirs else []
    return joiner.join(parts)


def _runs(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """Runs that are equal and runs that differ, by turns, after the alignment with the fewest edits."""
    if not first or not second:
        yield False, first, second
        return
    from jiwer import process_words  # 0.2 s to import: not while the wizard opens

    ours: list[str] = []
    theirs: list[str] = []
    for chunk in process_words(" ".join(first), " ".join(second)).alignments[0]:
        mine = first[chunk.ref_start_idx : chunk.ref_end_idx]
        other = second[chunk.hyp_start_idx : chunk.hyp_end_idx]
        if chunk.type != "equal":
            ours += mine
            theirs += other
            continue
        if ours or theirs:
            yield False, ours, theirs
        ours, theirs = [], []
        yield True, mine, other
    if ours or theirs:
        yield False, ours, theirs
