"""The recording whose voice is spoken with: readable, 3 to 10 s, neither silent nor clipped, its words known."""

from math import gcd
from pathlib import Path

from rocm_wizard.models.book import load_book
from rocm_wizard.models.plain import first_look
from rocm_wizard.models.problem import Kind, Problem, Refused, shown


def read_reference(path: Path, text: str) -> tuple[dict[str, float], list[Problem]]:
    """What was measured (`seconds`, `rate` in Hz, `rms_dbfs`) and the problems.

    Raises:
        ImportError: numpy or soundfile is missing.
    """
    problems = [] if text.strip() else [Problem(Kind.REFERENCE_NO_TEXT, path)]
    try:
        first_look(path)
        measured, found = _listen(path)
    except Refused as refused:
        return {}, [refused.problem, *problems]
    return measured, [*found, *problems]


def can_resample(rate: int) -> bool:
    """Whether resampling from so many hertz takes a small filter bank: from 44,101 Hz it would be gigabytes."""
    entry = load_book()["reference"]
    return all(rate // gcd(rate, to) * (to // gcd(rate, to)) <= entry["taps"] for to in entry["rates"])


def _listen(path: Path) -> tuple[dict[str, float], list[Problem]]:
    import soundfile

    from rocm_wizard.audio.signal import measure_signal
    from rocm_wizard.audio.wav import read_audio

    entry = load_book()["reference"]
    low, high = entry["seconds"]
    try:
        with path.open("rb") as file, soundfile.SoundFile(file) as sound:
            measured = {"seconds": round(sound.frames / sound.samplerate, 2), "rate": float(sound.samplerate)}
            seconds = sound.frames / sound.samplerate
        # The length is in the header: an hour of sound is not read to find that it is too long.
        if seconds > high:
            return measured, [Problem(Kind.REFERENCE_LONG, path, {**measured, "low": low, "high": high})]
        samples, rate = read_audio(path)
    except (OSError, ValueError, RuntimeError, ZeroDivisionError) as error:
        raise Refused(Kind.REFERENCE_UNREADABLE, path, reason=shown(error).replace(str(path), path.name)) from error
    signal = measure_signal(samples, rate)
    measured |= {"seconds": round(signal.seconds, 2), "rms_dbfs": round(signal.rms_dbfs, 1)}
    facts = {**measured, "low": low, "high": high}
    problems = [] if can_resample(rate) else [Problem(Kind.REFERENCE_RATE, path, facts)]
    if signal.seconds < low:
        problems.append(Problem(Kind.REFERENCE_SHORT, path, facts))
    elif signal.rms_dbfs < entry["silent_dbfs"]:
        problems.append(Problem(Kind.REFERENCE_SILENT, path, facts))
    elif signal.clipped > entry["clipped_share"] * signal.frames:
        problems.append(Problem(Kind.REFERENCE_CLIPPED, path, {**facts, "clipped": signal.clipped}, fatal=False))
    return measured, problems
