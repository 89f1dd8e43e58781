"""Turn a plan into bytes, and prove by reading them back that they say what was planned."""

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import Stale, VerificationFailed
from rocm_wizard.envfile.plan import Plan, Verb
from rocm_wizard.envfile.tokens import Kind
from rocm_wizard.envfile.values import bindings, expand_all, value_of


def render(document: Document, plan: Plan) -> bytes:
    """The bytes of `document` after `plan`; outside the plan's edits, the same bytes.

    Raises:
        Stale: the plan was made for another content.
    """
    if plan.digest != document.digest:
        raise Stale(document.path, "the plan was made for another version of the file")
    parts: list[str] = []
    cursor = 0
    for edit in plan.edits:
        parts += document.text[cursor : edit.start], edit.text
        cursor = edit.end
    if not parts:
        return document.data
    parts.append(document.text[cursor:])
    return document.encode("".join(parts))


def verify(document: Document, plan: Plan, rendered: bytes) -> None:
    """Read `rendered` back: each planned key has its value, and every other assignment is the one it was.

    The whole sequence of assignments is compared, duplicates included, so that no edit can swallow a line.

    Raises:
        VerificationFailed: naming the first key that differs.
    """
    after = Document.parse(rendered, document.path)
    expected = _expected(document, plan)
    found = bindings(after)
    if expected != found:
        at = next((i for i, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]), None)
        longer = expected if len(expected) > len(found) else found
        key = (expected[at] if at is not None else longer[min(len(expected), len(found))])[0]
        raise VerificationFailed(document.path, key, f"the new text would not read back as planned{_blame(document)}")
    values = expand_all(document.path, found, {})
    for action in plan.actions:
        if action.edit and values.get(action.key) != action.new:
            message = f"the new text would read back as another value{_blame(document)}"
            raise VerificationFailed(document.path, action.key, message)


def _blame(document: Document) -> str:
    broken = next((statement for statement in document.statements if statement.kind is Kind.BAD), None)
    if broken is None:
        return ""
    return f"; line {document.line(broken.start)} is broken, perhaps by a quote that nothing closes: mend it first"


def _expected(document: Document, plan: Plan) -> list[tuple[str, str | None]]:
    replaced: dict[int, tuple[str, str | None]] = {}
    inserted: dict[int, list[tuple[str, str | None]]] = {}
    ordered = sorted(
        (action for action in plan.actions if action.edit),
        key=lambda action: (action.edit.start, action.edit.rank) if action.edit else (0, 0),
    )
    for action in ordered:
        edit = action.edit
        if edit and action.verb is Verb.SET:
            replaced[edit.after] = (action.key, action.new)
        elif edit:
            inserted.setdefault(edit.after, []).append((action.key, action.new))
    text = document.text
    expected = list(inserted.get(-1, ()))
    for index, statement in enumerate(document.statements):
        if index in replaced:
            expected.append(replaced[index])
        elif statement.kind is Kind.ASSIGNMENT or statement.kind is Kind.BARE:
            expected.append((statement.key, value_of(text, statement)))
        if index in inserted:
            expected += inserted[index]
    return expected
