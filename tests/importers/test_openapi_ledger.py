"""Nothing silent: each keyword that is added changes the design, or is in the ledger of losses."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.importers.openapi_keywords import ENCODINGS, FORM, KEYWORDS, document
from toolgen.contract.json_pointer import tokens_of
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument

VERSIONS = ("3.0.4", "3.1.1")


def imported(value: Any) -> Any:
    """Return all that an import says and writes."""
    files = openapi_files(SourceDocument(name="api", value=value), name="api", service="api")
    return files.files, [(each.code, each.place.pointer, each.message) for each in files.findings]


def with_keyword(version: str, pointer: str, keyword: str, value: Any) -> dict[str, Any]:
    """Return the document with a keyword more, or with more in it."""
    whole = copy.deepcopy(document(version))
    place: Any = whole
    for token in tokens_of(pointer):
        place = place[int(token)] if isinstance(place, list) else place[token]
    held = place.get(keyword)
    place[keyword] = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
    return whole


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return {version: imported(document(version)) for version in VERSIONS}


@pytest.mark.parametrize("version", [pytest.param("3.0.4", marks=pytest.mark.exhaustive), "3.1.1"])
@pytest.mark.parametrize("pointer", KEYWORDS)
def test_each_keyword_is_in_the_design_or_in_the_ledger(
    pointer: str, version: str, plain: dict[str, Any]
) -> None:
    assert plain[version][1] == []
    silent = [
        keyword
        for keyword, value in KEYWORDS[pointer].items()
        if imported(with_keyword(version, pointer, keyword, value)) == plain[version]
    ]
    assert silent == []


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda each: next(iter(each)))
def test_so_is_what_is_said_of_a_part_of_a_form(encoding: dict[str, Any], plain: dict[str, Any]) -> None:
    made = with_keyword("3.1.1", FORM, "encoding", {"a": encoding})
    assert imported(made) != plain["3.1.1"]


def test_one_finding_names_the_keywords_of_a_kind() -> None:
    whole = document("3.1.1")
    whole["info"] |= {"contact": {"name": "A"}, "license": {"name": "MIT"}, "x-a": 1}
    whole["paths"]["/books/{id}"]["post"]["parameters"][1] |= {"allowEmptyValue": True, "x-b": 1}
    _, findings = imported(whole)
    assert findings == [
        (
            "import-note-left-out",
            "/info/contact",
            "the design leaves out keywords of info: contact (1), license (1), x-a (1)",
        ),
        (
            "import-note-left-out",
            "/paths/~1books~1{id}/post/parameters/1/allowEmptyValue",
            "the design leaves out keywords of parameters: allowEmptyValue (1), x-b (1)",
        ),
    ]
