"""Writes `docs/findings.md`: every finding id with its outcomes and words. `--check` only says whether it is stale.

The words come from `assets/strings/en`, the outcomes from the calls in `src/` that make a finding. What is
decided elsewhere than in the call, its function or a table beside it is shown as a question mark.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rocm_wizard.qualification.outcome import Outcome  # noqa: E402
from rocm_wizard.report.catalogue import Catalogue, load_strings  # noqa: E402
from rocm_wizard.report.explain import template  # noqa: E402

TABLE = ROOT / "docs" / "findings.md"
HEAD = """# All findings

Made by `python tools/make_finding_table.py` from `assets/strings/en` and the calls in `src/`; do not edit.
Words in angle brackets stand for facts. `rocm-wizard explain ID` tells the same for one id, with the known issues that
can be behind it. An outcome of `?` is decided at run time.
"""
type Pair = tuple[str, str]
type Tests = tuple[tuple[str, bool], ...]


def main(arguments: list[str]) -> int:
    """Writes the table, or compares it; 1 when it is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when docs/findings.md is stale")
    text = table()
    if not parser.parse_args(arguments).check:
        TABLE.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if TABLE.is_file() and TABLE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/findings.md is stale: python tools/make_finding_table.py", file=sys.stderr)
    return 1


def table() -> str:
    """The whole document."""
    catalogue, made = Catalogue("en"), set(pairs_in(ROOT / "src"))
    lines = [HEAD]
    ids = sorted(load_strings("en")["finding"])
    for family in sorted({id.partition(".")[0] for id in ids}):
        lines += [f"## {family}", "", "| id | outcome | text | what it means | command |", "|---|---|---|---|---|"]
        lines += [_row(id, catalogue, made) for id in ids if id.startswith(f"{family}.")]
        lines.append("")
    return "\n".join(lines)


def _row(id: str, catalogue: Catalogue, made: set[Pair]) -> str:
    fitting = [(len(pattern.replace("*", "")), outcome) for pattern, outcome in made if _fits(pattern, id)]
    closest = max((length for length, _ in fitting), default=0)
    outcomes = {outcome for length, outcome in fitting if length == closest}
    words = [catalogue.outcome(outcome) for outcome in Outcome if outcome.name in outcomes]
    shown = ", ".join(words) or "?"
    cells = [f"`{id}`", shown, *(_cell(id, part) for part in ("text", "hint", "action"))]
    return f"| {' | '.join(cells)} |"


def _cell(id: str, part: str) -> str:
    entry = load_strings("en")["finding"][id].get(part, "")
    texts = [f"{outcome}: {text}" for outcome, text in entry.items()] if isinstance(entry, dict) else [entry]
    text = template(" · ".join(texts)).replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(text.split())


def _fits(pattern: str, id: str) -> bool:
    if pattern.endswith(".*") and ".child_" in id:
        return False  # an operation's finding is named after it; how a child ended is no operation
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[a-z0-9_]+"), id) is not None


def pairs_in(folder: Path) -> Iterator[Pair]:
    """(id, outcome name) of every call that makes a finding; gaps of f-strings as `*`."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                scope = Scope(node)
                for call in scope.calls:
                    yield from scope.pairs(call)
            elif isinstance(node, ast.Dict):
                yield from _written(zip(node.keys, node.values, strict=True))
            elif isinstance(node, ast.Tuple):
                yield from _written(pairwise(node.elts))


def _written(pairs: Iterable[tuple[ast.expr | None, ast.expr]]) -> Iterator[Pair]:
    """Ids and outcomes that stand side by side in a table."""
    for id, outcome in pairs:
        if id is not None and (name := _outcome(outcome)):
            yield from ((text, name) for text in _id(id))


class Scope:
    """One function: its calls, and what it assigns to its names."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.calls: list[ast.Call] = []
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and len(node.args) >= 2:
                self.calls.append(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)

    def pairs(self, call: ast.Call) -> Iterator[Pair]:
        """The ids and outcomes of a call whose arguments are an id and, right after it, an outcome."""
        for id, outcome in zip(call.args[:2], call.args[1:3], strict=False):
            ids = [(test, text) for test, node in self._leaves(id) for text in _id(node)]
            for outcome_test, node in self._leaves(outcome):
                for test, text in ids:
                    if _go_together(test, outcome_test) and (name := _outcome(node)):
                        yield text, name

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._assigned.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._assign(one, other)

    def _leaves(
        self, node: ast.expr, tests: Tests = (), seen: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Tests, ast.expr]]:
        """What an expression can be, each with the conditions on the way there."""
        if isinstance(node, ast.IfExp):
            test = ast.dump(node.test)
            yield from self._leaves(node.body, (*tests, (test, True)), seen)
            yield from self._leaves(node.orelse, (*tests, (test, False)), seen)
        elif isinstance(node, ast.Name) and node.id in self._assigned and node.id not in seen:
            for value in self._assigned[node.id]:
                yield from self._leaves(value, tests, seen | {node.id})
        else:
            yield tests, node


def _go_together(one: Tests, other: Tests) -> bool:
    """Whether no condition is met by the one and not by the other."""
    return not any((test, not met) in other for test, met in one)


def _id(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
        yield "".join(str(part) for part in parts)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        # A probe's endings are named by their last part; the family is the stage's.
        yield node.value if "." in node.value else f"*.{node.value}"


def _outcome(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Outcome":
        return node.attr
    return None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
