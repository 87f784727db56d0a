"""Answers in other encodings than UTF-8."""

from __future__ import annotations

import codecs
import json

import pytest

from tests.clients.books import Book, operation
from tests.clients.servers import answer
from tests.clients.test_answers import Text, body, error, read
from toolgen.clients import HTTP, Response


@pytest.mark.parametrize("charset", ["ISO-8859-1", '"iso-8859-15"', "Windows-1252", "GBK", "koi8-r"])
async def test_json_is_read_by_the_charset_that_it_declares(charset: str) -> None:
    """Not by RFC 8259, section 8.1, but services do so."""
    title = "Жук" if charset == "koi8-r" else "é"
    text = json.dumps({"id": "1", "title": title}, ensure_ascii=False)
    kind = f"application/json; charset={charset}"
    data = text.encode(charset.strip('"'))
    assert await read(answer(200, data, Content_Type=kind)) == Book(id="1", title=title)
    for status in (404, 400):  # a declared error, and another one
        failure = f'{{"id":"1","detail":"{title}"}}'.encode(charset.strip('"'))
        assert title in str(await error(answer(status, failure, Content_Type=kind)))


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii", "iso-8859-12", "windows-1259", "zlib"])
async def test_json_that_is_not_in_its_charset_is_in_utf_8(charset: str) -> None:
    answered = answer(200, body(title="Grüße"), Content_Type=f"application/json; charset={charset}")
    assert (await read(answered)).title == "Grüße"
    data = codecs.BOM_UTF8 + '{"id":"1","title":"Grüße"}'.encode()
    marked = answer(200, data, Content_Type="application/json; charset=latin1")
    assert (await read(marked)).title == "Grüße"


@pytest.mark.parametrize("charset", ["punycode", "unicode_escape", "zlib", "iso-8859-99", "windows-1259"])
async def test_a_rare_charset_is_read_as_utf_8(charset: str) -> None:
    text = operation(
        HTTP(verb="GET", path="/text", responses=(Response(200, body="text", media="text"),)), result=Text
    )
    answered = answer(200, "Grüße".encode(), Content_Type=f"text/plain; charset={charset}")
    assert await read(answered, text) == Text(text="Grüße")
