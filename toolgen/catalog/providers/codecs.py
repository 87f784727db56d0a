"""Argument codecs: they convert the model's arguments into a document of the tool's own schema, and back.

Both run within `bounded`. Decoding leaves a value unchanged if it does not match the provider's schema, so
that the tool's validator rejects it with an issue about the tool's own schema. It fails only if too many
branches of unions match. Encoding fails if the provider's schema cannot express a document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from toolgen.contract.json_value import Json, compact
from toolgen.contract.record import frozen_record
from toolgen.shapes.evaluator import may_fit
from toolgen.shapes.issues import TooComplexError
from toolgen.shapes.steps import Steps

_MOST_STEPS: Final = 400_000
"""Maximum number of steps for one document; the branches of nested unions multiply."""
_OF_BRANCH: Final = 40
"""Additional steps for each branch that is tried."""
_steps: ContextVar[Steps] = ContextVar("steps of the document")

EXPLICIT_NULL: Final = "explicit"
"""The only key of an object that means an explicit null if null itself means absent."""


@contextmanager
def bounded() -> Iterator[None]:
    """Limit the branches that the codecs inside the block can try; beyond it, they raise a ValueError."""
    token = _steps.set(Steps(_MOST_STEPS))
    try:
        yield
    finally:
        _steps.reset(token)


def _count_branch() -> None:
    try:
        _steps.get().take(_OF_BRANCH)
    except TooComplexError:
        raise ValueError("too many branches of unions were tried") from None


class ArgumentCodec(Protocol):
    """The two directions of one value."""

    def encode(self, value: Json) -> Json:
        """Return a value of the tool's schema as the model would send it.

        Raises:
            ValueError: the provider's schema cannot express it.
        """
        ...

    def decode(self, value: Json) -> Json:
        """Return the value that the model sent as a value of the tool's schema."""
        ...


@frozen_record(kw_only=False)
class SameCodec:
    """The value is the same on both sides."""

    def encode(self, value: Json) -> Json:
        return value

    def decode(self, value: Json) -> Json:
        return value


SAME: Final = SameCodec()


@frozen_record(kw_only=False)
class JsonText:
    """The value is sent as the text of its JSON."""

    root: Any
    schema: Any
    """The tool's own schema and a part of it, which distinguish a plain text from JSON text."""

    def encode(self, value: Json) -> Json:
        return compact(value)

    def decode(self, value: Json) -> Json:
        if not isinstance(value, str):
            return value
        try:
            document = parsed(value)
        except (ValueError, RecursionError):
            return value
        is_text = not self._may_fit(document) and self._may_fit(value)
        return value if is_text else document

    def _may_fit(self, value: Json) -> bool:
        return may_fit(self.root, self.schema, value, _steps.get())


@frozen_record(kw_only=False)
class EnumText:
    """An enum of strings from a model that might change their case."""

    values: tuple[str, ...]

    def encode(self, value: Json) -> Json:
        return value

    def decode(self, value: Json) -> Json:
        if not isinstance(value, str) or value in self.values:
            return value
        near = [choice for choice in self.values if choice.casefold() == value.casefold()]
        return near[0] if len(near) == 1 else value


@frozen_record
class Property:
    """The form in which a property of an object is sent."""

    wire: str
    codec: ArgumentCodec = SAME
    is_null_absent: bool = False
    """Whether null means absent."""
    has_explicit_null: bool = False
    """Whether the tool also accepts null, which differs from absent."""

    @property
    def is_same(self) -> bool:
        """Whether the property is sent unchanged except for its name."""
        return self.codec is SAME and not self.is_null_absent


@frozen_record
class ObjectCodec:
    """An object of known properties; if it accepts others, they are pairs in a separate property."""

    properties: Mapping[str, Property]
    """The properties, by the key in the tool's schema."""
    rest: Property | None = None
    is_open: bool = False
    """Whether other properties are sent unchanged."""

    def encode(self, value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        sent: dict[str, Json] = {}
        for key, property_ in self.properties.items():
            if key in value:
                sent[property_.wire] = _encoded_property(property_, value[key])
            elif property_.is_null_absent:
                sent[property_.wire] = None
        others = {key: inner for key, inner in value.items() if key not in self.properties}
        if self.is_open:
            sent |= others
        elif self.rest is None:
            if others:
                raise ValueError(f"the keys {sorted(others)} are not declared")
        elif others:
            sent[self.rest.wire] = self.rest.codec.encode(others)
        elif self.rest.is_null_absent:
            sent[self.rest.wire] = None
        return sent

    def decode(self, value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        names = {property_.wire: (key, property_) for key, property_ in self.properties.items()}
        decoded: dict[str, Json] = {}
        others: Json = None
        for key, inner in value.items():
            name, property_ = names.get(key, (key, None))
            if property_ is None and self.rest is not None and key == self.rest.wire:
                others = self.rest.codec.decode(inner)
                if others is not None and not isinstance(others, dict):
                    decoded[key] = inner
            elif property_ is None:
                decoded[name] = inner
            elif inner is not None or not property_.is_null_absent:
                decoded[name] = _decoded_property(property_, inner)
        return {**(others if isinstance(others, dict) else {}), **decoded}


def _encoded_property(property_: Property, value: Json) -> Json:
    if value is None and property_.has_explicit_null:
        return {EXPLICIT_NULL: None}
    sent = property_.codec.encode(value)
    if sent is None and property_.is_null_absent:
        raise ValueError(f"null for {property_.wire!r} means the same as leaving it out")
    return sent


def _decoded_property(property_: Property, value: Json) -> Json:
    if property_.has_explicit_null and value == {EXPLICIT_NULL: None}:
        return None
    return property_.codec.decode(value)


@frozen_record(kw_only=False)
class Pairs:
    """An object with arbitrary keys, sent as an array of `{key, value}`."""

    codec: ArgumentCodec = SAME

    def encode(self, value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        return [{"key": key, "value": self.codec.encode(inner)} for key, inner in value.items()]

    def decode(self, value: Json) -> Json:
        if not isinstance(value, list):
            return value
        decoded: dict[str, Json] = {}
        for pair in value:
            if not isinstance(pair, dict) or pair.keys() != {"key", "value"}:
                return value
            key = pair["key"]
            if not isinstance(key, str) or key in decoded:
                return value
            decoded[key] = self.codec.decode(pair["value"])
        return decoded


@frozen_record(kw_only=False)
class ValuesCodec:
    """An object with arbitrary keys, sent as an object."""

    codec: ArgumentCodec

    def encode(self, value: Json) -> Json:
        return _each(value, self.codec.encode)

    def decode(self, value: Json) -> Json:
        return _each(value, self.codec.decode)


def _each(value: Json, convert: Any) -> Json:
    return {key: convert(inner) for key, inner in value.items()} if isinstance(value, dict) else value


@frozen_record(kw_only=False)
class Array:
    """An array: codecs for its first items, and one codec for all others."""

    first: tuple[ArgumentCodec, ...] = ()
    items: ArgumentCodec = SAME

    def encode(self, value: Json) -> Json:
        if not isinstance(value, list):
            return value
        return [self._of(index).encode(item) for index, item in enumerate(value)]

    def decode(self, value: Json) -> Json:
        if not isinstance(value, list):
            return value
        return [self._of(index).decode(item) for index, item in enumerate(value)]

    def _of(self, index: int) -> ArgumentCodec:
        return self.first[index] if index < len(self.first) else self.items


@frozen_record
class BranchCodec:
    """One branch of a union: its schema of the tool, its schema of the provider, and its codec."""

    schema: Any
    wire: Any
    codec: ArgumentCodec


@frozen_record
class Union:
    """The first branch that fits."""

    branches: Sequence[BranchCodec]
    own: Any
    wire: Any
    """The schemas that contain the branches, on both sides."""

    def encode(self, value: Json) -> Json:
        failure: ValueError | None = None
        for branch in self.branches:
            _count_branch()
            if may_fit(self.own, branch.schema, value, _steps.get()):
                try:
                    return branch.codec.encode(value)
                except ValueError as error:
                    failure = failure or error
        if failure is not None:
            raise failure
        return value

    def decode(self, value: Json) -> Json:
        seen, fitting = value, self._fitting(value)
        if not fitting:  # ignore nulls of optional attributes, which validation drops
            seen = _without_nulls(value)
            fitting = self._fitting(seen)
        if len(fitting) == 1:
            return fitting[0].codec.decode(value)
        decoded: list[Json] = []
        for branch in fitting:
            _count_branch()
            document = branch.codec.decode(value)
            plain = document if seen is value else _without_nulls(document)
            if may_fit(self.own, branch.schema, plain, _steps.get()):
                return document
            decoded.append(document)
        return decoded[0] if decoded else value

    def _fitting(self, value: Json) -> list[BranchCodec]:
        return [branch for branch in self.branches if may_fit(self.wire, branch.wire, value, _steps.get())]


def _without_nulls(value: Json) -> Json:
    """Return the value without the properties that are null, at any depth."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


@dataclass(slots=True)
class Reference:
    """A part of `$defs`, whose codec exists once the schema is complete."""

    codecs: Mapping[str, ArgumentCodec] = field(repr=False)
    name: str

    def encode(self, value: Json) -> Json:
        return self.codecs[self.name].encode(value)

    def decode(self, value: Json) -> Json:
        return self.codecs[self.name].decode(value)


@frozen_record(kw_only=False)
class Wrapped:
    """The arguments as the only property of an object."""

    wire: str
    codec: ArgumentCodec

    def encode(self, value: Json) -> Json:
        return {self.wire: self.codec.encode(value)}

    def decode(self, value: Json) -> Json:
        if isinstance(value, dict) and value.keys() == {self.wire}:
            return self.codec.decode(value[self.wire])
        return value


def parsed(text: str | bytes) -> Json:
    """Return the value of a JSON text (RFC 8259).

    Raises:
        ValueError: it is not JSON, or has a number that JSON or Python cannot express.
        RecursionError: it is nested too deeply.
    """
    value: Json = json.loads(text, parse_constant=_no_number, parse_float=_number)
    return value


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large")
    return value
