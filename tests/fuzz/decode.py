"""Fuzz target: whatever a model sends, a codec returns a value or says what is wrong, as its schema does.

Of a foreign schema that is what it says of the document with the defaults of absent required properties.

`python -m tests.fuzz.decode --seconds 60 --seed 1`
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final

import jsonschema
import jsonschema_rs

from tests.conformance import oracle
from tests.conformance.agreement import CALENDAR
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.contract.limits import DEFAULT_LIMITS, UNLIMITED, Limits
from toolgen.runtime import ToolValidationError
from toolgen.runtime.functions import Codec, SchemaCodec
from toolgen.shapes.foreign.filling import filler_of
from toolgen.shapes.issues import TOO_COMPLEX

from .documents import changed, document, mangled, text_of
from .running import Outcome, Target, main
from .subjects import Subject, schema_of, subjects

_LONGEST_INTEGER: Final = 4_000
"""Digits; Python reads few more."""
_MOST_EXACT: Final = 2.0**53
"""Above it a number with a point or an exponent is not just what its digits say."""
_ENDLESS: Final = re.compile("[0-9]{309}")
"""A number that is no float; those of functions are finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text as Python's own parser of JSON reads it."""

    is_json: bool = True
    is_plain: bool = True
    """Each key is there once, and Python holds every number and character just as it is."""
    value: Any = None
    depth: int = 0
    keys: int = 0


class _Plain:
    """Reads one text."""

    def __init__(self) -> None:
        self.is_plain = True

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        self.is_plain = self.is_plain and len(found) == len(pairs)
        return found

    def integer(self, text: str) -> int:
        if len(text) > _LONGEST_INTEGER:
            self.is_plain = False
            return 0
        return int(text)

    def number(self, text: str) -> float:
        found = float(text)
        self.is_plain = self.is_plain and abs(found) < _MOST_EXACT
        return found


def reading(data: bytes | str) -> Reading:
    """Return what a text is, by other means than the codecs'."""
    plain = _Plain()
    try:
        text = (data if isinstance(data, bytes) else data.encode()).decode()
        value = json.loads(
            text,
            parse_constant=_refuse,
            parse_float=plain.number,
            parse_int=plain.integer,
            object_pairs_hook=plain.pairs,
        )
        depth, keys = _measured(value)
        is_unicode = _is_unicode(value)
    except ValueError:  # Unicode's errors too
        return Reading(is_json=False)
    except RecursionError:
        return Reading(is_plain=False, depth=sys.maxsize)
    return Reading(is_plain=plain.is_plain and is_unicode, value=value, depth=depth, keys=keys)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _measured(value: Any) -> tuple[int, int]:
    """Return how deep a value is, and how many keys and items it has."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    if parts is None:
        return 0, 0
    inner = [_measured(part) for part in parts]
    return 1 + max((depth for depth, _ in inner), default=0), len(parts) + sum(keys for _, keys in inner)


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class Judge:
    """Two independent opinions on documents of one schema."""

    def __init__(self, codec: Codec[Any]) -> None:
        self._is_foreign = isinstance(codec, SchemaCodec)
        self._schema = schema_of(codec)

    @cached_property
    def _rust(self) -> Any:
        has_formats = not self._is_foreign  # in schemas of others they are notes
        return jsonschema_rs.Draft202012Validator(self._schema, validate_formats=has_formats)

    @cached_property
    def _python(self) -> Any:
        if self._is_foreign:
            return jsonschema.Draft202012Validator(self._schema)
        return oracle.validator(self._schema)

    def opposes(self, value: Any, *, is_accepted: bool) -> bool:
        """Return whether neither opinion is that of the codec."""
        opinions = (judge.is_valid(value) for judge in (self._rust, self._python))
        return all(opinion != is_accepted for opinion in opinions)


class Decode:
    """The target."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._subjects = subjects
        self._judges = {id(one.codec): Judge(one.codec) for one in subjects}
        self._schemas = {id(one.codec): schema_of(one.codec) for one in subjects}
        self._fills = {id(one.codec): _filling(one.codec) for one in subjects}

    def __call__(self, chance: Random) -> Outcome:
        """Return what came of one text, and check that it is right.

        Raises:
            AssertionError: it is not.
        """
        subject = chance.choice(self._subjects)
        data, limits = self._input(subject, chance), _limits(chance)
        codec = subject.codec
        try:
            value = codec.decode(data, limits)
        except ToolValidationError as error:
            self._check_refusal(codec, data, limits, error)
            constraints = sorted({issue.constraint for issue in error.issues})
            return Outcome(kind="refused", detail=f"{subject.name}: {' '.join(constraints)}")
        self._check_value(codec, data, limits, value)
        return Outcome(kind="accepted", detail=subject.name)

    def _input(self, subject: Subject, chance: Random) -> bytes | str | Mapping[str, object]:
        codec = subject.codec
        if subject.documents and chance.random() < 0.5:
            value = copy.deepcopy(chance.choice(subject.documents))
        else:
            value = document(self._schemas[id(codec)], chance)
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 5))):
            value = changed(value, chance)
        text = text_of(value, chance)
        if chance.random() < 0.1:
            return mangled(text.encode(errors="surrogatepass"), chance)
        if isinstance(value, dict) and chance.random() < 0.1:
            return value
        return text if chance.random() < 0.3 else text.encode(errors="surrogatepass")

    def _check_refusal(
        self, codec: Codec[Any], data: Any, limits: Limits, error: ToolValidationError
    ) -> None:
        assert 0 < len(error.issues) <= limits.issues, (len(error.issues), limits)
        assert error.more >= 0
        documents = [issue.as_json() for issue in error.issues]
        for issue, told in zip(error.issues, documents, strict=True):
            assert json.loads(issue.as_bytes()) == json.loads(json.dumps(told))
            assert len(issue.as_bytes()) < 20_000, issue
        read = reading(_text(data))
        is_judged = error.issues != (TOO_COMPLEX,)
        if is_judged and read.is_json and read.is_plain and _is_within(read, data, limits):
            filled = self._filled(codec, data)
            if filled is data:
                self._check_agreement(codec, read.value, is_accepted=False, told=error)
            elif _is_within(reading(filled), filled, limits):
                self._check_agreement(codec, json.loads(filled), is_accepted=False, told=error)

    def _check_value(self, codec: Codec[Any], data: Any, limits: Limits, value: Any) -> None:
        read = reading(_text(data))
        assert read.is_json, "what is no JSON was accepted"
        if read.is_plain:
            assert _is_within(read, data, limits), "what is beyond the limits was accepted"
            if (filled := self._filled(codec, data)) is not data:
                read = reading(filled)
            self._check_agreement(codec, read.value, is_accepted=True, told=value)
        encoded = codec.encode(value)
        again = codec.decode(encoded, UNLIMITED)
        assert again == value, (encoded, again, value)
        self._check_agreement(codec, json.loads(encoded), is_accepted=True, told=encoded)
        if read.is_plain and isinstance(codec, SchemaCodec):
            assert _is_kept(json.loads(encoded), read.value), (encoded, read.value)

    def _filled(self, codec: Codec[Any], data: Any) -> Any:
        """Return the filled document as text; what was given where nothing is filled."""
        text = _text(data)
        filled = self._fills[id(codec)](text)
        return data if filled is text else filled

    def _check_agreement(self, codec: Codec[Any], value: Any, *, is_accepted: bool, told: object) -> None:
        text = json.dumps(value)
        if CALENDAR.search(text) or (isinstance(codec, TypeCodec) and _ENDLESS.search(text)):
            return
        assert not self._judges[id(codec)].opposes(value, is_accepted=is_accepted), (codec, value, told)


def _filling(codec: Codec[Any]) -> Callable[[bytes | str], bytes | str]:
    fill = filler_of(codec.schema_json) if isinstance(codec, SchemaCodec) else None
    return fill or (lambda text: text)


def _is_kept(written: Any, read: Any) -> bool:
    """Return whether a value was written as it was read; 1.0 may be written as 1, but not 1 as 1.0."""
    match read:
        case dict():
            return (
                isinstance(written, dict)
                and written.keys() == read.keys()
                and all(_is_kept(written[key], value) for key, value in read.items())
            )
        case list():
            return (
                isinstance(written, list) and len(written) == len(read) and all(map(_is_kept, written, read))
            )
        case bool() | int():
            return type(written) is type(read) and bool(written == read)
        case _:
            return bool(written == read)


def _text(data: bytes | str | Mapping[str, object]) -> bytes | str:
    return data if isinstance(data, bytes | str) else json.dumps(data)


def _is_within(read: Reading, data: bytes | str | Mapping[str, object], limits: Limits) -> bool:
    text = _text(data)
    size = len(text if isinstance(text, bytes) else text.encode())
    return size <= limits.bytes and read.depth <= limits.depth and read.keys <= limits.keys


def _limits(chance: Random) -> Limits:
    if chance.random() < 0.8:
        return DEFAULT_LIMITS
    return Limits(
        bytes=chance.choice((40, 200, 5_000)),
        depth=chance.choice((1, 3, 6, 64)),
        keys=chance.choice((1, 5, 20, 10_000)),
        issues=chance.choice((1, 2, 20)),
    )


def target(seed: int) -> Target:
    """Return the target with all codecs that the seed draws."""
    return Decode(subjects(seed))


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.decode", target))
