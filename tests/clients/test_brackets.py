"""Objects and lists in the style `deepObject`: brackets in queries and forms, at any depth."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from toolgen.clients import Body, Parameter
from toolgen.runtime import ToolError

from .test_requests import parts_of, received, sending


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ({"a": {"b": [1, {"c": True}]}}, "?color[a][b][0]=1&color[a][b][1][c]=true"),
        ({"a": [[], [2]]}, "?color[a][1][0]=2"),
        ({"a": {"b": None, "c": {}}}, ""),
        (["x", "y"], "?color[0]=x&color[1]=y"),
    ],
)
async def test_brackets_name_the_parts_of_a_query(value: Any, query: str) -> None:
    request = await received(sending(Parameter("value", "query", "color", "deepObject")), value=value)
    assert unquote(request.target) == f"/x{query}"


async def test_brackets_name_the_parts_of_objects_and_lists_in_forms() -> None:
    value = {"dob": {"day": 1, "tags": ["a b", {"c": None, "d": False}]}, "e": []}
    form = Body(media="form", attribute="value", style="deepObject")
    request = await received(sending(body=form), value=value)
    assert unquote(request.body.decode()) == "dob[day]=1&dob[tags][0]=a b&dob[tags][1][d]=false"
    parts = Body(media="multipart", attributes=("value", "image"), files=("image",), style="deepObject")
    request = await received(sending(body=parts), value=value, image=b"1")
    assert parts_of(request) == [
        ("value[dob][day]", None, "text/plain", b"1"),
        ("value[dob][tags][0]", None, "text/plain", b"a b"),
        ("value[dob][tags][1][d]", None, "text/plain", b"false"),
        ("image", "image", "application/octet-stream", b"1"),
    ]


@pytest.mark.parametrize("key", ["b][c", "b[]", "]b"])
async def test_a_key_in_brackets_has_none(key: str) -> None:
    for body in (Body(media="form", attribute="value", style="deepObject"), None):
        query = () if body else (Parameter("value", "query", style="deepObject"),)
        with pytest.raises(ToolError, match="must not have a key with brackets"):
            await received(sending(*query, body=body), value={"a": {key: 1}})
