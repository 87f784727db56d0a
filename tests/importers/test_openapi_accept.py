"""The media types that an imported operation asks for: those of its documented success answers."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.clients import books
from tests.clients.servers import Received, answer, serving
from tests.importers.operations import design, operation
from toolgen.clients import HTTP, HTTPClient
from toolgen.dsl import build
from toolgen.runtime import ToolError

BOOK = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
OTHER = {"type": "array", "items": {"type": "string"}}
JSON, HAL, VENDOR = "application/json", "application/hal+json", "application/vnd.books.v2+json"


def transport(folder: Path, **responses: dict[str, Any]) -> HTTP:
    """Return the request of an operation with these responses: schemas by media type, by status."""
    written = {
        status.removeprefix("s"): {
            "description": "It.",
            "content": {key: {"schema": one} for key, one in content.items()},
        }
        for status, content in responses.items()
    }
    (folder / "api.py").write_text(design(operation({"responses": written})), "utf-8")
    found = build(runpy.run_path(str(folder / "api.py"))["design"])
    assert found.design is not None, found.diagnostics
    ((method,),) = (service.methods for service in found.design.services if service.methods)
    assert isinstance(method.transport, HTTP)
    return method.transport


async def accepted(http: HTTP, result: type = books.Book) -> str:
    """Return the Accept header of a request; its server serves nothing else."""

    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(406, b"not acceptable"))

    of = books.operation(http, result=result, errors={})
    async with serving(respond) as server, HTTPClient(server=server.url) as client:
        with pytest.raises(ToolError, match="406"):
            await client.send(of, books.GetBook(id="1"))
        return server.received[0].headers["accept"]


@pytest.mark.parametrize(
    ("content", "accept"),
    [
        ({JSON: BOOK}, JSON),
        ({"application/json; charset=utf-8": BOOK}, JSON),
        ({VENDOR: BOOK}, VENDOR),
        ({HAL: BOOK, JSON: BOOK}, f"{HAL}, {JSON}"),
        ({JSON: BOOK, HAL: BOOK, VENDOR: BOOK}, f"{JSON}, {HAL}, {VENDOR}"),
        ({VENDOR: OTHER, JSON: BOOK}, JSON),  # the other one would be read as a book
        ({"application/xml": BOOK, VENDOR: BOOK}, VENDOR),
        ({"text/plain": BOOK, JSON: BOOK, "text/json": BOOK}, JSON),
        ({"application/json;odata.metadata=minimal": BOOK}, "application/json;odata.metadata=minimal"),
        (
            {'application/vnd.api+json; ext="https://books.example/e"': BOOK},
            'application/vnd.api+json;ext="https://books.example/e"',
        ),
        ({"application/json; v": BOOK}, JSON),  # no media type
        ({"*/*": BOOK}, JSON),
        ({"application/*": BOOK}, JSON),
        ({"text/csv": {}, "application/pdf": {}}, "text/csv"),
        ({"application/pdf": {}, "image/png": {}}, "application/pdf, image/png"),
        ({"image/*": {}}, "*/*"),
        ({"pdf": {}}, "*/*"),
    ],
)
async def test_what_a_success_answer_is_documented_as_is_asked_for(
    content: dict[str, Any], accept: str, tmp_path: Path
) -> None:
    assert await accepted(transport(tmp_path, s200=content)) == accept


async def test_answers_of_all_statuses_are_asked_for(tmp_path: Path) -> None:
    http = transport(tmp_path, s200={VENDOR: BOOK}, s202={HAL: OTHER}, s204={}, s404={"text/html": {}})
    assert await accepted(http) == f"{VENDOR}, {HAL}"
    mixed = transport(tmp_path, s200={VENDOR: BOOK}, s206={"application/pdf": {}})
    assert await accepted(mixed) == f"{VENDOR}, application/pdf"


async def test_an_operation_without_a_result_takes_any_answer(tmp_path: Path) -> None:
    """JSON is preferred: many servers describe their failures in the media type that was asked for."""
    http = transport(tmp_path, s204={}, s404={VENDOR: BOOK})
    assert http.accept == ()
    assert await accepted(http, books.Nothing) == f"{JSON}, */*;q=0.5"
