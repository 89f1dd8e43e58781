"""A recogniser for soaks: `python soak_listener.py MODE COUNT_FILE LANGUAGE`. Standard library only.

right: always the transcript. slower: 3 ms more each time. wrong: another text. mute: no text.
dies: at its third answer, always.
dots: no words at first, then the transcript.
mishears_a_fifth: every fifth character is another one.
dies_once: at its third answer in the first life only; COUNT_FILE remembers.
"""

import json
import os
import sys
import time
import tomllib
from pathlib import Path


def main(mode: str, count_file: Path, transcript: str) -> None:
    """Ready, then answers until stdin ends."""
    lives = len(count_file.read_text(encoding="utf-8")) if count_file.exists() else 0
    count_file.write_text("x" * (lives + 1), encoding="utf-8")
    print(json.dumps({"type": "ready", "device": "cpu", "torch": "2.9.1", "hip": None, "engine": "test"}), flush=True)
    for answered, line in enumerate(sys.stdin):
        json.loads(line)
        time.sleep(0.02 + (0.003 * answered if mode == "slower" else 0))
        if answered == 2 and (mode == "dies" or (mode == "dies_once" and lives == 0)):
            os._exit(3)
        text = {"wrong": "nothing of the kind", "mute": ""}.get(mode, transcript)
        if mode == "dots" and not answered:
            text = "..."
        if mode == "mishears_a_fifth":
            text = "".join("错" if place % 5 == 4 else letter for place, letter in enumerate(transcript))
        print(json.dumps({"type": "result", "text": text}), flush=True)


if __name__ == "__main__":
    recordings = Path(__file__).parents[2] / "assets" / "audio" / "recordings.toml"
    name = {"en": "English", "zh": "Chinese"}[sys.argv[3]]
    with recordings.open("rb") as file:
        spoken = next(one["transcript"] for one in tomllib.load(file)["recording"] if one["language"] == name)
    main(sys.argv[1], Path(sys.argv[2]), spoken)
