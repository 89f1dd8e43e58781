"""Recognises semantic tokens that collapsed into a loop, before they are turned into seconds of noise.

The thresholds are the host project's (`tts/semantic_stability.py`).
"""

from collections import Counter
from collections.abc import Sequence

RETRY_PENALTY = 1.5
"""Repetition penalty of the one retry after a rejection."""

_EQUAL_RUN = 48
_EQUAL_RUN_WITH_SHARE = (32, 0.18)
_PERIODIC_RUN = 64
_LONGEST_PERIOD = 8
_ONE_TOKEN = (64, 0.55)
_SMALLEST_BUDGET = 96
_TOKENS_A_PHONEME = 4
_OVER_BUDGET = (0.35, 20, 32)


def rejection(tokens: Sequence[int], phonemes: int, most_tokens: int) -> str | None:
    """Why these tokens are no speech, or None.

    Args:
        tokens: the generated semantic tokens of one sentence.
        phonemes: the number of its phonemes.
        most_tokens: the generation's limit, which also caps the budget.
    """
    count = len(tokens)
    if not count:
        return "no tokens"
    equal = longest_run(tokens, 1)
    periodic = max(longest_run(tokens, period) for period in range(1, _LONGEST_PERIOD + 1))
    share = max(Counter(tokens).values()) / count
    least, of_all = _EQUAL_RUN_WITH_SHARE
    if equal >= _EQUAL_RUN or (equal >= least and equal >= of_all * count):
        return f"one token {equal} times in a row"
    if periodic >= _PERIODIC_RUN:
        return f"a pattern repeated over {periodic} tokens"
    if count >= _ONE_TOKEN[0] and share >= _ONE_TOKEN[1]:
        return f"one token makes up {share:.0%}"
    budget = min(max(_SMALLEST_BUDGET, _TOKENS_A_PHONEME * phonemes), most_tokens)
    if count > budget and (share >= _OVER_BUDGET[0] or equal >= _OVER_BUDGET[1] or periodic >= _OVER_BUDGET[2]):
        return f"{count} tokens for {phonemes} phonemes, and repetitive"
    return None


def longest_run(tokens: Sequence[int], period: int) -> int:
    """The length of the longest stretch in which every token equals the one `period` before; 0 when there is none.

    A stretch of one repetition counts from its first token: `a a a` is 3 long at period 1, `a b a b` 4 at period 2.
    """
    longest = run = 0
    for before, token in zip(tokens, tokens[period:], strict=False):
        run = run + 1 if before == token else 0
        longest = max(longest, run)
    return longest + period if longest else 0
