"""Text front ends: Japanese, English and Chinese to the phonemes of the v2 symbol set."""
