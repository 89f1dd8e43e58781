"""From measured numbers to a recommendation for each setting, with its reason. Pure: nothing is measured here.

None of it judges how speech sounds. Where a setting trades speed against sound, the advice says what it costs.
"""

from dataclasses import dataclass

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome

KEEPS_UP = 0.9
"""A real-time factor up to here leaves room for a busy moment; above it playback runs dry sooner or later."""
EASILY = 0.6
"""A real-time factor up to here leaves room for a setting that costs more."""
SOONER = 0.9
"""First audio counts as sooner from this share of the other's on."""
FASTER = 1.1
"""A setting counts as faster from this much on: less is within the spread of repeated runs."""
NEW_LENGTH_MS, NEW_LENGTH_SHARE = 200.0, 0.5
"""The first block of a new length may cost this much more than later ones, in milliseconds and as a share of them.
Beyond both it is a search for a solver and no spread between runs."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Warm medians: seconds to the first audio, and seconds of work a second of speech."""

    first_audio: float
    factor: float


@dataclass(frozen=True, slots=True)
class Vocoder:
    """Milliseconds: what the first block of a length costs more than later ones (the worst length), and a later one."""

    extra: float
    known: float


def advise_blocks(short: Pace, long: Pace, short_s: float = 0.4, long_s: float = 0.8) -> Finding:
    """Short blocks where they are heard sooner and still keep up; else long ones."""
    facts = {
        "short": short_s,
        "long": long_s,
        "first_short": round(short.first_audio, 3),
        "first_long": round(long.first_audio, 3),
        "factor_short": round(short.factor, 3),
        "factor_long": round(long.factor, 3),
    }
    if long.factor > KEEPS_UP and short.factor > KEEPS_UP:
        return Finding("bench.blocks_neither", Outcome.WARNING, facts)
    if short.factor > KEEPS_UP:
        return Finding("bench.blocks_long", Outcome.PASSED, facts)
    if short.first_audio > SOONER * long.first_audio:
        return Finding("bench.blocks_no_gain", Outcome.PASSED, facts)
    return Finding("bench.blocks_short", Outcome.PASSED, facts)


def advise_steps(few: Pace, many: Pace, few_steps: int = 16, many_steps: int = 32) -> Finding:
    """More steps where they are easily afforded; whether they are heard is for ears."""
    facts = {
        "few": few_steps,
        "many": many_steps,
        "first_few": round(few.first_audio, 3),
        "first_many": round(many.first_audio, 3),
        "factor_few": round(few.factor, 3),
        "factor_many": round(many.factor, 3),
    }
    afforded = many.factor <= EASILY
    return Finding("bench.steps_many" if afforded else "bench.steps_few", Outcome.PASSED, facts)


def advise_bucket(on: Vocoder, off: Vocoder) -> Finding:
    """Padding where new lengths are dear without it; none where it only makes known ones dearer."""
    facts = {
        "extra_on": round(on.extra, 1),
        "extra_off": round(off.extra, 1),
        "known_on": round(on.known, 1),
        "known_off": round(off.known, 1),
    }
    searches = off.extra > max(NEW_LENGTH_MS, NEW_LENGTH_SHARE * off.known)
    if searches and on.extra < off.extra:
        return Finding("bench.bucket_on", Outcome.PASSED, facts)
    if on.known > FASTER * off.known:
        return Finding("bench.bucket_off", Outcome.PASSED, facts)
    return Finding("bench.bucket_either", Outcome.PASSED, facts)


def advise_graph(plain: float, graph: float, *, equal: bool | None) -> Finding:
    """Tokens a second without and with graphs. Other tokens rule them out, whatever they gain (None: not compared)."""
    facts = {"plain": round(plain, 1), "graph": round(graph, 1), "gain": round(graph / plain, 2)}
    if equal is False:
        return Finding("bench.graph_wrong", Outcome.WARNING, facts)
    if equal is None and graph >= FASTER * plain:
        return Finding("acceptance.graph_unproven", Outcome.SKIPPED, facts)
    return Finding("bench.graph_on" if graph >= FASTER * plain else "bench.graph_off", Outcome.PASSED, facts)


def advise_concurrency(one: float, two: float, *, equal: bool) -> Finding:
    """Seconds of sound a second: two sentences one after the other, and both at once in one process."""
    facts = {"one": round(one, 2), "two": round(two, 2), "gain": round(two / one, 2)}
    if not equal:
        return Finding("bench.parallel_wrong", Outcome.WARNING, facts)
    return Finding("bench.parallel_gains" if two >= FASTER * one else "bench.parallel_no_gain", Outcome.PASSED, facts)
