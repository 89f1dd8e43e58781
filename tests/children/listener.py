"""A recogniser that answers by a script. Standard library only: `python listener.py SCRIPT_JSON`.

The script: `texts` is what is answered to sounds of a length (samples as a string, or "any"), one list item after the
other, the last for ever ("die": it does); `silence` and `noise` are the texts for silent and very quiet sound;
`codes` false: an ISO code is answered with an error; `tell` is sent as the detected language; `delay` in seconds
before each answer; `log` is a file that takes one JSON line for each request: language, samples, peak.
"""

import base64
import json
import os
import struct
import sys
import time
from pathlib import Path

QUIET_PEAK = 0.05


def send(**message: object) -> None:
    """One message on the wire."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text_for(script: dict[str, object], samples: int, peak: float, asked: dict[str, int]) -> object:
    """What the script says to such a sound."""
    if peak < QUIET_PEAK:
        return script.get("silence" if peak == 0 else "noise", "")
    texts = script.get("texts", {})
    assert isinstance(texts, dict)
    key = str(samples) if str(samples) in texts else "any"
    answers = texts.get(key, [""])
    asked[key] = asked.get(key, 0) + 1
    return answers[min(asked[key], len(answers)) - 1]


def main(script: dict[str, object]) -> None:
    """Ready, then an answer to each request until stdin ends."""
    send(type="ready", device="cpu", torch="2.9.1", hip=None, engine="script", model="script")
    asked: dict[str, int] = {}
    for line in sys.stdin:
        request = json.loads(line)
        raw = base64.b64decode(request["audio_b64"])
        count = len(raw) // 4
        peak = max((abs(value) for value in struct.unpack(f"<{count}f", raw)), default=0.0)
        language = request["language"]
        if "log" in script:
            with Path(str(script["log"])).open("a", encoding="utf-8") as log:
                log.write(json.dumps({"language": language, "samples": count, "peak": peak}) + "\n")
        time.sleep(float(str(script.get("delay", 0))))
        if language is not None and len(language) <= 3 and not script.get("codes", True):
            send(type="error", msg=f"Unsupported language: {language}")
            continue
        told = {"language": script["tell"]} if "tell" in script else {}
        text = text_for(script, count, peak, asked)
        if text == "die":
            os._exit(3)
        send(type="result", text=text, **told)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
