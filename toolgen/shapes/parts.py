"""Responses that do not match their type: valid parts are typed, and the rest stays as it was received.

Only invalid responses are read here, so that valid ones cost nothing. Each value is checked by the validator
for its own part of the type; a value that does not fit is divided into its attributes or items, until a part
fits or cannot be divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any, Final

from pydantic_core import ErrorDetails, ValidationError, from_json, to_json

from toolgen.contract.json_value import Json
from toolgen.contract.record import record

from .exact import keeps_null
from .issues import LEFT_OUT, MOST_WARNINGS, TOO_COMPLEX, FieldIssue, Keys, TooComplexError
from .tolerance import NO_BRANCH, core_schema_of, forgiving, issue_of, validator_of
from .union_guard import mapped, nodes_of

_MOST_STEPS: Final = 10_000
"""Maximum number of checked parts of one response, including the cost of their errors."""
_ERRORS_A_STEP: Final = 10
"""Number of errors that cost a step: each is found again in all enclosing parts."""
_DEEPEST: Final = 64
"""Maximum nesting depth at which a response is divided."""
_UNCHECKED: Final = (
    "was not validated: too many parts of the response do not match, or it is nested too deeply"
)
_AROUND: Final = frozenset(
    "definitions default nullable function-after function-before function-wrap".split()
)
"""Core schemas that wrap another one, whose values have the same parts."""


@record
class Parts:
    """The readable parts of a response."""

    value: Any
    """The typed value, with values as received at the locations of the issues."""
    json: Json
    """The same value as JSON, serialized by the type if it fits."""
    issues: tuple[FieldIssue, ...] = ()
    """The first issues, in the order of the type."""
    more: int = 0
    """Number of further issues."""


class PartReader:
    """Reads responses of one type in parts."""

    def __init__(self, type_: object) -> None:
        core = forgiving(core_schema_of(type_))
        shared = [each["ref"] for node in nodes_of(core) for each in node.get("definitions", ())]
        self._root = _without_refs(core, frozenset(shared))
        self._definitions = {node["ref"]: node for node in nodes_of(self._root) if "ref" in node}
        self._validators: dict[int, Callable[..., object]] = {}
        self._containers: dict[int, object] = {}

    def read(self, document: Json) -> Parts:
        """Return the parts of a response that does not fit."""
        reading = _Reading(self)
        value, json = reading.part(self._root, document, (), {})
        issues = reading.issues
        return Parts(
            value=value,
            json=json,
            issues=tuple([issue.shortened() for issue in issues[:MOST_WARNINGS]]),
            more=max(0, len(issues) - MOST_WARNINGS),
        )

    def validator(self, node: Any, config: Any) -> Callable[..., Any]:
        """Return the validator for a part of the type; `config` is the config of the class around it."""
        validate = self._validators.get(id(node))
        if validate is None:
            schema = {"type": "definitions", "schema": node, "definitions": [*self._definitions.values()]}
            validate = self._validators[id(node)] = validator_of(
                node if node is self._root else schema, config
            )
        return validate

    def container(self, node: object) -> object:
        """Return the schema of a list or a map with any items."""
        if id(node) not in self._containers:
            self._containers[id(node)] = self._with_any_items(node)
        return self._containers[id(node)]

    def _with_any_items(self, node: Any) -> object:
        own_schema = {key: part for key, part in node.items() if key != "ref"}
        match node["type"]:
            case "list":
                return {**own_schema, "items_schema": {"type": "any"}}
            case "dict":
                return {**own_schema, "values_schema": {"type": "any"}}
            case "definitions":
                return self._with_any_items(node["schema"])
            case "definition-ref":
                return self._with_any_items(self._definitions[node["schema_ref"]])
            case "union":
                return self._with_any_items(next(_values_of(node)))
            case _:
                return {**own_schema, "schema": self._with_any_items(node["schema"])}

    def divided(self, node: Any, value: Json, config: Any) -> tuple[Any, Any, Any]:
        """Return the class of a value or None, the schema of its attributes or items, and their config."""
        model = None
        while True:
            kind = node["type"]
            if kind == "definition-ref":
                node = self._definitions[node["schema_ref"]]
            elif kind == "model":
                if node.get("root_model") or node.get("custom_init"):
                    return None, node, config
                model, config, node = node["cls"], node.get("config", config), node["schema"]
            elif kind in _AROUND:
                node = node["schema"]
            elif kind == "union" and len(choices := [*_values_of(node)]) == 1:
                node = choices[0]
            elif kind == "tagged-union" and (branch := _branch(node, value)) is not None:
                node = branch
            else:
                return model, node, config


class _Reading:
    """The reading of one response."""

    def __init__(self, reader: PartReader) -> None:
        self._reader = reader
        self._steps = _MOST_STEPS
        self.issues: list[FieldIssue] = []

    def part(self, node: Any, document: Json, keys: Keys, config: Any) -> tuple[Any, Json]:
        """Return the value of a part of the response, and its JSON."""
        self._steps -= 1
        if self._steps < 0 or len(keys) > _DEEPEST:
            if not self.issues or self.issues[-1].message != _UNCHECKED:
                self.issues.append(_invalid(keys, _UNCHECKED))
            return document, document
        try:
            value = self._reader.validator(node, config)(to_json(document), by_alias=True)
            return value, _written(value, document)
        except ValidationError as error:
            misfit = error
            self._steps -= error.error_count() // _ERRORS_A_STEP
        except TooComplexError:
            self.issues.append(_invalid(keys, TOO_COMPLEX.message.partition(":")[0]))
            return document, document
        known = len(self.issues)
        top, top_config = node, config
        model, inner, config = self._reader.divided(node, document, config)
        kind = inner["type"]
        result: tuple[Any, Json] = document, document
        if kind == "model-fields" and model is not None and isinstance(document, dict):
            result = self._object(model, inner, document, keys, config)
        elif kind == "list" and isinstance(document, list):
            items = inner.get("items_schema", {"type": "any"})
            parts = [self.part(items, item, (*keys, at), config) for at, item in enumerate(document)]
            result = [value for value, _ in parts], [json for _, json in parts]
        elif kind == "dict" and isinstance(document, dict):
            values = inner.get("values_schema", {"type": "any"})
            named = {key: self.part(values, item, (*keys, key), config) for key, item in document.items()}
            result = (
                {key: value for key, (value, _) in named.items()},
                {key: json for key, (_, json) in named.items()},
            )
        if len(self.issues) == known:  # it cannot be divided, or all of its parts fit
            first, *others = misfit.errors(include_url=False)
            is_choice = kind in ("union", "tagged-union") and (others or first["loc"])
            self.issues.append(_invalid(keys, NO_BRANCH) if is_choice else issue_of(first, keys))
        elif kind in ("list", "dict") and (own := self._own_error(top, document, top_config)) is not None:
            self.issues.insert(known, issue_of(own, keys))
        return result

    def _own_error(self, node: object, document: Json, config: object) -> ErrorDetails | None:
        """Return the first error of a list or a map itself; None if only its parts do not fit."""
        self._steps -= 1
        try:
            self._reader.validator(self._reader.container(node), config)(to_json(document))
        except ValidationError as error:
            return error.errors(include_url=False)[0]
        except TooComplexError:
            pass
        return None

    def _object(
        self, model: Any, schema: Any, document: dict[str, Json], keys: Keys, config: object
    ) -> tuple[Any, Json]:
        values: dict[str, Any] = {}
        written: dict[str, Json] = {}
        others, is_missed = dict(document), False
        for name, field in schema["fields"].items():
            key = field.get("validation_alias", name)
            if key in document:
                del others[key]
                values[name], json = self.part(field["schema"], document[key], (*keys, key), config)
                if json is not None or not _may_be_absent(field) or keeps_null(field["schema"]):
                    written[key] = json
            elif not _may_be_absent(field):
                is_missed = True
                self.issues.append(
                    FieldIssue(keys=(*keys, key), constraint="missing_field", message=LEFT_OUT)
                )
        value = model.model_construct({*values})  # an alias can be another attribute's name
        fields = value.__dict__ | values
        object.__setattr__(
            value, "__dict__", {name: fields[name] for name in schema["fields"] if name in fields}
        )
        if "extras_schema" in schema:
            object.__setattr__(value, "__pydantic_extra__", others)
            written |= others
        elif is_missed:  # it might be present under another key
            written |= others
        return value, written


def _without_refs(core: object, shared: Set[str]) -> object:
    """Return a core schema in which only shared definitions have a name, so that each part can be built.

    For a list, one error is enough, because its items are then read one by one.
    """
    flat = mapped(core, lambda node: _without_refs(node, shared))
    if flat["type"] == "list":
        flat = {**flat, "fail_fast": True}
    return flat if flat.get("ref") in shared else {key: part for key, part in flat.items() if key != "ref"}


def _values_of(union: Any) -> Iterator[object]:
    """Yield the branches of a union that accept more than null."""
    for choice in union["choices"]:
        branch = choice[0] if isinstance(choice, tuple) else choice
        if branch["type"] != "none":
            yield branch


def _branch(union: Any, value: Json) -> object:
    """Return the branch with the tag of a value; None if there is none."""
    discriminator, choices = union["discriminator"], union["choices"]
    tag = discriminator(value) if callable(discriminator) and isinstance(value, dict) else None
    is_told = isinstance(tag, str | int) and isinstance(value, dict) and tag in value.values()
    return choices.get(tag) if is_told else None


def _may_be_absent(field: Any) -> bool:
    node = field["schema"]
    while node["type"] in _AROUND and node["type"] != "default":
        node = node["schema"]
    return bool(node["type"] == "default")


def _written(value: object, document: Json) -> Json:
    """Return the JSON of a part that fits: objects as their classes serialize them, others as received."""
    match value, document:
        case list(), list():
            return [_written(item, part) for item, part in zip(value, document, strict=True)]
        case dict(), dict():
            return {key: _written(item, document.get(key)) for key, item in value.items()}
        case (list() | dict(), _) | (_, list()):
            return document
        case _, dict():
            written: Json = from_json(to_json(value, by_alias=True, exclude_none=True))
            return written
        case _:
            return document


def _invalid(keys: Keys, message: str) -> FieldIssue:
    return FieldIssue(keys=keys, constraint="invalid_value", message=message)
