"""Decide what each wanted key needs, before anything is written. No file is touched here.

The rule compares three values: the template's default, the file's own, and the wanted one.

- The file has no line for the key: `append`; directly below a commented example of it: `uncomment`; in a file that is
  not there yet: `create`.
- The file's value is the wanted one, as written or after `${...}` is expanded: `keep`.
- The file's value is nobody's decision (empty, a placeholder, or still the template's default): `set`.
- Otherwise somebody chose it. Without a word from the person that is a `conflict`, and the line stays as it is;
  `choices` turns it into `set` or `keep`. A value whose template default is unknown counts as chosen.
- A key named in `keep` is never changed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.edits import MARKER, Edit, blank_line, block_end, line_edit, open_quotes, set_edit
from rocm_wizard.envfile.placeholders import is_placeholder
from rocm_wizard.envfile.quoting import check_key, check_value, encode
from rocm_wizard.envfile.tokens import Kind, Statement
from rocm_wizard.envfile.values import read_values, references, value_of


class Verb(StrEnum):
    """What happens to a key."""

    KEEP = "keep"
    SET = "set"
    APPEND = "append"
    UNCOMMENT = "uncomment"
    CONFLICT = "conflict"
    CREATE = "create"


class Reason(StrEnum):
    """Why."""

    ALREADY_SET = "already_set"
    ASKED_TO_KEEP = "asked_to_keep"
    CHOSE_CURRENT = "chose_current"
    CHOSE_WANTED = "chose_wanted"
    WAS_EMPTY = "was_empty"
    WAS_PLACEHOLDER = "was_placeholder"
    WAS_DEFAULT = "was_default"
    CHANGED_BY_USER = "changed_by_user"
    ABSENT = "absent"
    COMMENTED_EXAMPLE = "commented_example"
    NEW_FILE = "new_file"


class Choice(StrEnum):
    """A person's answer to a conflict."""

    WANTED = "wanted"
    CURRENT = "current"


@dataclass(frozen=True)
class Action:
    """One key's part of the plan. Values are as written, and not in the `repr`: they may be secrets.

    `line` is the effective line (or the commented example's), `shadowed_lines` the earlier duplicates that no reader
    uses, `dependents` the keys whose values refer to this one by `${...}` and so change with it, `disagree` the
    readers that would see another value in the form we write.
    """

    key: str
    verb: Verb
    reason: Reason
    old: str | None = field(repr=False)
    new: str = field(repr=False)
    line: int | None = None
    shadowed_lines: tuple[int, ...] = ()
    dependents: tuple[str, ...] = ()
    disagree: tuple[str, ...] = ()
    edit: Edit | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Plan:
    """What a merge would do to the document with this `digest` (`""`: no such file).

    `placeholders` are the wanted keys that were left out because their value is one.
    """

    digest: str
    actions: tuple[Action, ...]
    placeholders: tuple[str, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits in file order."""
        found = [action.edit for action in self.actions if action.edit]
        return tuple(sorted(found, key=lambda edit: (edit.start, edit.rank)))

    @property
    def conflicts(self) -> tuple[Action, ...]:
        """The actions that wait for a choice."""
        return tuple(action for action in self.actions if action.verb is Verb.CONFLICT)

    @property
    def creates_file(self) -> bool:
        """Whether applying it makes a new file, which is worth a question of its own."""
        return any(action.verb is Verb.CREATE for action in self.actions)


def make_plan(
    document: Document,
    wanted: Mapping[str, str],
    *,
    template_defaults: Mapping[str, str] | None = None,
    keep: Collection[str] = (),
    choices: Mapping[str, Choice] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Plan:
    """Plan `wanted` into `document`; see the module's text for the rule.

    `environment` is used for `${...}` in the file's present values only.

    Raises:
        BadKey, BadValue: a wanted key or value that a `.env` cannot carry; raised before anything is planned.
    """
    for key, value in wanted.items():
        check_key(document.path, key)
        check_value(document.path, key, value)
    planner = _Planner(document, template_defaults or {}, frozenset(keep), choices or {}, environment or {})
    placeholders = tuple(key for key, value in wanted.items() if is_placeholder(value))
    actions = [planner.action(key, value) for key, value in wanted.items() if key not in placeholders]
    return Plan(document.digest, tuple(actions), placeholders)


class _Planner:
    def __init__(
        self,
        document: Document,
        defaults: Mapping[str, str],
        keep: frozenset[str],
        choices: Mapping[str, Choice],
        environment: Mapping[str, str],
    ) -> None:
        self._document = document
        self._defaults = defaults
        self._keep = keep
        self._choices = choices
        self._environment = environment
        self._avoid = open_quotes(document)
        self._dependents: dict[str, tuple[str, ...]] | None = None
        self._expanded: dict[str, str | None] | None = None
        self._end, self._marked = block_end(document)
        self._glued = False  # whether an earlier action already gave the last line its missing line end

    def action(self, key: str, new: str) -> Action:
        indices = self._document.assignments.get(key)
        if indices:
            return self._present(key, new, indices)
        if key in self._keep:
            return Action(key, Verb.KEEP, Reason.ASKED_TO_KEEP, None, new)
        return self._absent(key, new)

    def _present(self, key: str, new: str, indices: list[int]) -> Action:
        document = self._document
        statement = document.statements[indices[-1]]
        old = value_of(document.text, statement)
        verb, reason = self._decide(key, old, new, statement)
        edit, disagree = None, ()
        if verb is Verb.SET:
            edit, encoded = set_edit(document, indices[-1], new, self._avoid)
            disagree = encoded.disagree
        return Action(
            key,
            verb,
            reason,
            old,
            new,
            line=self._line(statement),
            shadowed_lines=tuple(self._line(document.statements[index]) for index in indices[:-1]),
            dependents=self._referring(key),
            disagree=disagree,
            edit=edit,
        )

    def _decide(self, key: str, old: str | None, new: str, statement: Statement) -> tuple[Verb, Reason]:
        if key in self._keep:
            return Verb.KEEP, Reason.ASKED_TO_KEEP
        if old is not None and (old == new or ("${" in old and self._read(key) == new)):
            return Verb.KEEP, Reason.ALREADY_SET
        if not old or _is_comment(self._document.text, statement):
            return Verb.SET, Reason.WAS_EMPTY
        if is_placeholder(old):
            return Verb.SET, Reason.WAS_PLACEHOLDER
        if old == self._defaults.get(key):
            return Verb.SET, Reason.WAS_DEFAULT
        choice = self._choices.get(key)
        if choice is None:
            return Verb.CONFLICT, Reason.CHANGED_BY_USER
        if choice == Choice.WANTED:
            return Verb.SET, Reason.CHOSE_WANTED
        return Verb.KEEP, Reason.CHOSE_CURRENT

    def _absent(self, key: str, new: str) -> Action:
        document = self._document
        encoded = encode(new, avoid=self._avoid)
        line = f"{key}={encoded.text}"
        dependents = self._referring(key)
        example = document.examples.get(key)
        if example is not None:
            edit = line_edit(document, example, line, rank=1)
            self._glued = self._glued or edit.start == len(document.text)
            verb, reason, at = Verb.UNCOMMENT, Reason.COMMENTED_EXAMPLE, self._line(document.statements[example])
        else:
            edit = self._append(line)
            verb, reason, at = Verb.APPEND, Reason.ABSENT, None
            if not document.exists:
                verb, reason = Verb.CREATE, Reason.NEW_FILE
        return Action(key, verb, reason, None, new, at, (), dependents, encoded.disagree, edit)

    def _append(self, line: str) -> Edit:
        document = self._document
        lead = ""
        if not self._marked:
            lead = f"{blank_line(document)}{MARKER}{document.newline}"
            self._marked = True
        edit = line_edit(document, self._end, line, rank=2, lead=lead)
        if edit.start == len(document.text):
            if self._glued:
                edit = Edit(edit.start, edit.end, f"{lead}{line}{document.newline}", edit.after, edit.rank)
            self._glued = True
        return edit

    def _read(self, key: str) -> str | None:
        if self._expanded is None:
            self._expanded = read_values(self._document, self._environment)
        return self._expanded.get(key)

    def _referring(self, key: str) -> tuple[str, ...]:
        if "${" + key not in self._document.text:
            return ()
        if self._dependents is None:
            self._dependents = _dependents(self._document)
        return self._dependents.get(key, ())

    def _line(self, statement: Statement) -> int:
        return self._document.line(statement.start)


def _is_comment(text: str, statement: Statement) -> bool:
    """Whether the value is `# note` behind `KEY=` and blanks: by the letter a value, by intent none."""
    start = statement.value_start
    return statement.kind is Kind.ASSIGNMENT and text.startswith("#", start) and text[start - 1] != "="


def _dependents(document: Document) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for statement in document.statements:
        if document.text.find("${", statement.start, statement.end) >= 0 and statement.kind is Kind.ASSIGNMENT:
            value = value_of(document.text, statement) or ""
            for _, _, name, _ in references(value):
                found.setdefault(name, {})[statement.key] = None
    return {name: tuple(keys) for name, keys in found.items()}
