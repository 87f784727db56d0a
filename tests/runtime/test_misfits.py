"""What does not fit is never written, whatever filters of warnings a process has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import pytest
from pydantic import AfterValidator, BaseModel, Field, PlainSerializer, field_serializer, field_validator

from gen.assistant.toolsets import devices
from tests.cases.scalars.gen.forms.toolsets import scalars
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.runtime import MalformedResultError
from toolgen.runtime.functions import Codec


class Note(BaseModel):
    text: str


@contextmanager
def filters(kind: str) -> Iterator[None]:
    """Ignore all warnings, or have no filter."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        if kind == "ignore":
            warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("kind", ["ignore", "none"])
def test_a_value_of_another_type_is_not_written(kind: str) -> None:
    page = devices.ListDevicesResult.model_construct(devices=["junk"], returned=1, truncated=False)
    with filters(kind):
        with pytest.raises(MalformedResultError, match="ListDevicesResult cannot be encoded") as raised:
            devices.LIST_DEVICES.result.encode(page)
        assert "PydanticSerializationUnexpectedValue" in str(raised.value)


@pytest.mark.parametrize("kind", ["ignore", "none"])
def test_what_fits_is_written_alike(kind: str) -> None:
    codec: Codec[Note] = TypeCodec(Note, "note", is_result=True)
    with filters(kind):
        assert codec.encode(Note(text="Buy two.")) == b'{"text":"Buy two."}'


class Aliased(BaseModel):
    text: str = Field(alias="theText")


@pytest.mark.parametrize("kind", ["ignore", "none"])
def test_a_value_that_somebody_put_into_json_is_written_as_its_class_says(kind: str) -> None:
    result: Any = scalars.CONSTRAINTS.result.decode({"any": [], "instant": "2026-01-31T00:00:00Z"})
    result.any.append(Aliased(theText="x"))
    with filters(kind):
        assert scalars.CONSTRAINTS.result.encode(result).startswith(b'{"any":[{"text":"x"}]')


class Careless(BaseModel):
    """What changes the filters of the process while it is written."""

    text: str

    @field_serializer("text")
    def ignoring(self, text: str) -> str:
        warnings.simplefilter("ignore")
        return text


def test_what_does_not_fit_is_not_written_by_a_serializer_that_changes_the_filters() -> None:
    careless: Any = Careless(text="junk")
    page = devices.ListDevicesResult.model_construct(devices=[], returned=careless, truncated=False)
    with filters("none"), pytest.raises(MalformedResultError, match="ListDevicesResult cannot be encoded"):
        devices.LIST_DEVICES.result.encode(page)


class Old(BaseModel):
    """What warns whoever reads and writes it."""

    text: str

    @field_validator("text")
    @classmethod
    def read(cls, text: str) -> str:
        warnings.warn("text is going away", stacklevel=2)
        return text

    @field_serializer("text")
    def written(self, text: str) -> str:
        warnings.warn("text is going away", stacklevel=2)
        return text


def test_warnings_of_authors_are_no_errors() -> None:
    codec: Codec[Old] = TypeCodec(Old, "old", is_result=True)
    with filters("none"):
        assert codec.encode(codec.decode(b'{"text":"Buy two."}')) == b'{"text":"Buy two."}'


class Text(str):
    """A text of the author's class."""


class Number(float):
    """A number of the author's class."""


class Named(StrEnum):
    ONE = "one"


class Whole(int):
    """A whole number of the author's class."""


SCALARS: dict[Any, list[tuple[object, str]]] = {
    str: [("é", '"é"'), (Text("a"), '"a"'), (1, ""), (b"a", ""), (None, ""), (Named.ONE, '"one"')],
    Annotated[str, Field(max_length=3)]: [("abc", '"abc"'), ("abcd", "")],
    int: [(1, "1"), (2.0, "2"), (Whole(3), "3"), (True, ""), ("1", ""), (0.5, ""), (10**30, f"{10**30}")],
    float: [(0.5, "0.5"), (1, "1"), (Number(0.25), "0.25"), (True, ""), ("1", ""), (float("nan"), "")],
    bool: [(True, "true"), (1, ""), ("true", "")],
    str | None: [(None, "null"), ("a", '"a"'), (1, "")],
}


@pytest.mark.parametrize("type_", SCALARS, ids=str)
def test_a_scalar_is_written_as_the_validated_value(type_: Any) -> None:
    codec: Codec[Any] = TypeCodec(type_, "scalar", is_result=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value, written in SCALARS[type_]:
            if written:
                assert codec.encode(value) == written.encode()
            else:
                with pytest.raises(MalformedResultError, match="cannot be encoded"):
                    codec.encode(value)


Counted: TypeAlias = Annotated[str, AfterValidator(len)]


@pytest.mark.parametrize(
    "type_",
    [
        Counted,
        Annotated[str, PlainSerializer(lambda _: 1, return_type=str)],
        Counted | None,
    ],
    ids=["validator", "serializer", "nullable"],
)
def test_a_text_that_an_author_makes_a_number_of_is_not_written(type_: Any) -> None:
    codec: Codec[Any] = TypeCodec(type_, "text", is_result=True)
    with filters("ignore"), pytest.raises(MalformedResultError, match="cannot be encoded"):
        codec.encode("a")
