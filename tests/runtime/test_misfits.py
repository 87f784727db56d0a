"""What does not fit is never written, whatever filters of warnings a process has."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import BaseModel

from gen.assistant.toolsets import devices
from toolgen.calls import codec as codecs
from toolgen.calls.type_codec import TypeCodec
from toolgen.runtime import Codec, MalformedResultError


class Note(BaseModel):
    text: str


@contextmanager
def filters(kind: str) -> Iterator[None]:
    """Have the filter of the codecs first, or behind one that ignores all, or not at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "first":
            warnings.filters.insert(0, codecs._MISFITS_RAISE)  # type: ignore[attr-defined]  # a list
        elif kind == "none":
            warnings.resetwarnings()
        yield


@pytest.mark.parametrize("kind", ["first", "behind", "none"])
def test_a_value_of_another_type_is_not_written(kind: str) -> None:
    page = devices.ListDevicesResult.model_construct(devices=["junk"], returned=1, truncated=False)
    with filters(kind):
        with pytest.raises(MalformedResultError, match="ListDevicesResult does not encode") as raised:
            devices.LIST_DEVICES.result.encode(page)
        assert "PydanticSerializationUnexpectedValue" in str(raised.value)


@pytest.mark.parametrize("kind", ["first", "behind", "none"])
def test_what_fits_is_written_alike(kind: str) -> None:
    codec: Codec[Note] = TypeCodec(Note, "note", is_result=True)
    with filters(kind):
        assert codec.encode(Note(text="Buy two.")) == b'{"text":"Buy two."}'


def test_a_host_has_the_filter_first() -> None:
    code = "import toolgen.runtime, warnings; print(warnings.filters[0])"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed.startswith("('error', None, <class 'UserWarning'>")
    assert "toolgen" in printed
