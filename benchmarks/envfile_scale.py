"""Seconds for plan, apply and verify of a `.env` with 10 thousand, 100 thousand and 1 million lines.

The budget is 1 s for 100,000 lines, and time in proportion to lines; `total` is what it is about. `check` is the look
for traps and at the catalogue's rules, which a plan does too.

    python benchmarks/envfile_scale.py [LINES ...]
"""

import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from rocm_wizard.assets import asset
from rocm_wizard.envfile import (
    Choice,
    apply_plan,
    find_notices,
    lint,
    load_catalogue,
    make_plan,
    read_values,
    take_snapshot,
    undo_write,
)

KEYS = 26


def content(lines: int) -> bytes:
    """Plain, quoted and commented values, and in each tenth line a reference."""
    kinds = (
        "KEY_{0}=value {0}",
        'KEY_{0}="quoted {0}" # note',
        "# comment {0}",
        "export KEY_{0}=C:\\models\\{0}",
        "KEY_{0}=a",
        "KEY_{0}='b'",
        "",
        "KEY_{0}=${{KEY_0}}/x",
        "# KEY_X{0}=commented",
        "KEY_{0}=z # note",
    )
    return "".join(kinds[number % 10].format(number) + "\n" for number in range(lines)).encode()


def measure(lines: int, folder: Path) -> dict[str, float]:
    """Seconds of each step."""
    path = folder / ".env"
    path.write_bytes(content(lines))
    half = KEYS // 2
    wanted = {f"KEY_{(number * (lines // half)) // 10 * 10}": "new" for number in range(half)}
    wanted |= {f"NEW_{number}": "new value" for number in range(half)}
    marks = [time.perf_counter()]
    snapshot = take_snapshot(path)
    marks.append(time.perf_counter())
    plan = make_plan(snapshot.document, wanted, choices=dict.fromkeys(wanted, Choice.WANTED))
    marks.append(time.perf_counter())
    receipt = apply_plan(snapshot, plan)
    marks.append(time.perf_counter())
    after = take_snapshot(path).document
    catalogue = load_catalogue(asset("env_catalogue.toml"))
    started = time.perf_counter()
    find_notices(after)
    lint(after, catalogue)
    check = time.perf_counter() - started
    values = read_values(after)
    if any(values[key] != value for key, value in wanted.items()):
        raise SystemExit("a planned value does not read back")
    undo_write(receipt)
    if path.read_bytes() != snapshot.document.data:
        raise SystemExit("undo did not restore the file")
    steps = [after - before for before, after in pairwise(marks)]
    return dict(zip(("read", "plan", "apply+verify"), steps, strict=True)) | {"check": check}


def main() -> None:
    sizes = [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    print(f"{'lines':>10} {'read':>8} {'plan':>8} {'apply+verify':>13} {'total':>8} {'us/line':>8} {'check':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for lines in sizes:
            steps = measure(lines, Path(folder))
            total = sum(seconds for step, seconds in steps.items() if step != "check")
            print(
                f"{lines:>10} {steps['read']:8.3f} {steps['plan']:8.3f} {steps['apply+verify']:13.3f}"
                f" {total:8.3f} {total / lines * 1e6:8.2f} {steps['check']:8.3f}"
            )


if __name__ == "__main__":
    main()
