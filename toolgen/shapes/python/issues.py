"""Issues of values of hand-written Python types, from the errors of their validators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic_core import ErrorDetails

from toolgen.contract.json_value import Json

from ..design.issues import IssueReader
from ..foreign.issues import ForeignReader, Located, LocatedIssue
from ..issues import FieldIssue, Keys
from ..labels import UNKNOWN_KEY
from ..lexical import FORMAT_NAMES
from .validator import KEYS, OWN

_SAME: Final = {
    "dataclass_type": "dict_type",
    "mapping_type": "dict_type",
    "set_type": "list_type",
    "frozen_set_type": "list_type",
    "tuple_type": "list_type",
    "named_tuple_type": "list_type",
    "iterable_type": "list_type",
    "missing_argument": "missing",
    "missing_keyword_only_argument": "missing",
}
"""The equivalent JSON errors of errors that pydantic has only for Python types."""
_UNKNOWN: Final = frozenset(["extra_forbidden", "unexpected_keyword_argument"])


class TypeReader(ForeignReader):
    """Converts pydantic's errors of hand-written types into issues."""

    def __init__(self, schema: Mapping[str, Any], own: Callable[[str], Mapping[str, Json]]) -> None:
        """Construct a reader for errors of a type; `own` returns the schema of an exact class by name."""
        super().__init__(schema)
        self._own = own
        self._readers: dict[str, IssueReader] = {}

    def _located(self, errors: Sequence[ErrorDetails]) -> list[Located]:
        return super()._located([_plain(error) for error in errors])

    def _issue_of(self, keys: Keys, error: ErrorDetails) -> LocatedIssue:
        at = next((at for at, key in enumerate(keys) if isinstance(key, str) and key.startswith(OWN)), None)
        if at is None:
            return _in_form(super()._issue_of(keys, error))
        name = str(keys[at]).removeprefix(OWN)
        reader = self._readers.get(name)
        if reader is None:
            reader = self._readers[name] = IssueReader(self._own(name))
        [issue] = reader.issues([{**error, "loc": keys[at + 1 :]}])
        return LocatedIssue(replace(issue, keys=(*keys[:at], *issue.keys)), issue.actual or "")


def _plain(error: ErrorDetails) -> ErrorDetails:
    """Return the error as one of a foreign type, with the keys that an object accepts."""
    kind, loc, allowed = error["type"], error["loc"], "[]"
    if any(isinstance(step, str) and step.startswith(OWN) for step in loc):
        return {**error, "loc": _without_keys(loc)}
    if kind == "value_error":
        return {**error, "loc": _without_keys(loc), "msg": error["msg"].removeprefix("Value error, ")}
    if kind not in _UNKNOWN:
        return {**error, "loc": _without_keys(loc), "type": _SAME.get(kind, kind)}
    for step in loc:
        if isinstance(step, str) and step.startswith(KEYS):
            allowed = step.removeprefix(KEYS)
    return {**error, "loc": _without_keys(loc), "type": UNKNOWN_KEY, "ctx": {"allowed": allowed}}


def _without_keys(loc: Keys) -> Keys:
    return tuple([step for step in loc if not (isinstance(step, str) and step.startswith(KEYS))])


def _in_form(located: LocatedIssue) -> LocatedIssue:
    """Return the issue; for a lexical form, it names the form, as for a generated class."""
    issue = located.issue
    if issue.constraint != "invalid_pattern" or (named := FORMAT_NAMES.get(issue.expected or "")) is None:
        return located
    form, example = named
    message = f"must be written as {form}, such as {example}"
    renamed = FieldIssue(keys=issue.keys, constraint="invalid_format", message=message, expected=form)
    return located._replace(issue=renamed)
