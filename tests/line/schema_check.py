"""JSON Schema 2020-12, as much of it as our schemas use. An unknown keyword is an error: nothing passes unread."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}
_NOTES = {"$schema", "$id", "$defs", "title", "description"}


def problems(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str = "$") -> Iterator[str]:
    """What is wrong with a value, each with its place."""
    for keyword, rule in schema.items():
        if keyword in _NOTES:
            continue
        if keyword == "$ref":
            yield from problems(value, _resolve(rule, root), root, at)
        elif keyword == "allOf":
            for part in rule:
                yield from problems(value, part, root, at)
        elif keyword in _CHECKS:
            yield from _CHECKS[keyword](value, rule, schema, root, at)
        else:
            raise NotImplementedError(keyword)


def _resolve(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    node: Any = root
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _type(value: Any, rule: Any, *rest: Any) -> Iterator[str]:
    names = rule if isinstance(rule, list) else [rule]
    if not any(_is(value, name) for name in names):
        yield f"{rest[-1]}: {value!r} is no {names}"


def _const(value: Any, rule: Any, *rest: Any) -> Iterator[str]:
    if value != rule:
        yield f"{rest[-1]}: {value!r} is not {rule!r}"


def _enum(value: Any, rule: Any, *rest: Any) -> Iterator[str]:
    if value not in rule:
        yield f"{rest[-1]}: {value!r} is none of {rule}"


def _pattern(value: Any, rule: str, *rest: Any) -> Iterator[str]:
    if isinstance(value, str) and not re.search(rule, value):
        yield f"{rest[-1]}: {value!r} does not fit {rule}"


def _length(value: Any, rule: int, *rest: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) < rule:
        yield f"{rest[-1]}: shorter than {rule}"


def _minimum(value: Any, rule: float, *rest: Any) -> Iterator[str]:
    if _is(value, "number") and value < rule:
        yield f"{rest[-1]}: {value} is below {rule}"


def _required(value: Any, rule: list[str], *rest: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{rest[-1]}: {name} is missing" for name in rule if name not in value)


def _properties(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    del schema
    for name, part in rule.items():
        if isinstance(value, dict) and name in value:
            yield from problems(value[name], part, root, f"{at}.{name}")


def _additional(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for name in value if isinstance(value, dict) else ():
        if name in schema.get("properties", {}):
            continue
        if rule is False:
            yield f"{at}: {name} is unknown"
        else:
            yield from problems(value[name], rule, root, f"{at}.{name}")


def _items(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    first = len(schema.get("prefixItems", []))
    for index, item in enumerate(value[first:] if isinstance(value, list) else ()):
        yield from problems(item, rule, root, f"{at}[{first + index}]")


def _prefix(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    del schema
    for index, (item, part) in enumerate(zip(value, rule, strict=False)):
        yield from problems(item, part, root, f"{at}[{index}]")


def _fewest(value: Any, rule: int, *rest: Any) -> Iterator[str]:
    if isinstance(value, list) and len(value) < rule:
        yield f"{rest[-1]}: fewer than {rule} items"


def _most(value: Any, rule: int, *rest: Any) -> Iterator[str]:
    if isinstance(value, list) and len(value) > rule:
        yield f"{rest[-1]}: more than {rule} items"


_CHECKS: dict[str, Any] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "pattern": _pattern,
    "minLength": _length,
    "minimum": _minimum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "prefixItems": _prefix,
    "minItems": _fewest,
    "maxItems": _most,
}
