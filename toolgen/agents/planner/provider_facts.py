"""Facts of a model's provider about an answer: why it ended, and the sources that it cites. Pure."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from pydantic_core import to_jsonable_python

from toolgen.calls.documents.types import ProviderDocument
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .portable import portable_json

FinishReason: TypeAlias = Literal["stop", "length", "content_filter", "tool_call", "error"]
"""Reason for the end of an answer: it was complete, or ended at the token limit, by a filter, with calls, or
by an error.
"""


@frozen_record
class Citation:
    """A source that a provider cites for a part of an answer."""

    url: str = ""
    """URL of a web page; "" for any other source."""
    document: str = ""
    """The provider's own id of a file or a document; "" where it has none."""
    title: str = ""
    start: int | None = None
    """Place in the text of the answer where the range begins, in Unicode code points; None where the provider
    gives no range."""
    end: int | None = None
    """Place after the range: `text[start:end]`."""
    is_marker: bool = False
    """The range is a marker or a link that the model wrote, such as `[1]`, and not the text it supports."""


@frozen_record
class ProviderFacts:
    """Facts of the provider about an answer; those that it does not state are absent."""

    finish_reason: FinishReason | None = None
    """Normalized finish reason; None if the provider's own reason has no equivalent."""
    provider_finish_reason: str = ""
    """The provider's own word, such as `end_turn`."""
    citations: tuple[Citation, ...] = ()
    grounding: object = None
    """The citation data of the provider, as JSON; only the conversation has it."""


def facts_document(facts: ProviderFacts, length: int = sys.maxsize) -> ProviderDocument:
    """Return the facts as events and records have them, with ranges within a text of this length only."""
    document = _present(replace(facts, citations=(), grounding=None))
    if facts.citations:
        document["citations"] = [_present(_within(cited, length)) for cited in facts.citations]
    return cast(ProviderDocument, document)


def facts_of(document: ProviderDocument) -> ProviderFacts:
    """Return the facts of a document by `facts_document`."""
    cited = tuple([Citation(**each) for each in document.get("citations", ())])
    word = document.get("provider_finish_reason", "")
    return ProviderFacts(
        finish_reason=document.get("finish_reason"), provider_finish_reason=word, citations=cited
    )


def portable_facts(facts: ProviderFacts | None) -> ProviderFacts | None:
    """Return the facts as every store takes them."""
    if facts is None:
        return None
    return replace(facts_of(portable_json(facts_document(facts))), grounding=portable_json(facts.grounding))


def _within(cited: Citation, length: int) -> Citation:
    is_within = cited.end is not None and cited.end <= length
    return cited if is_within else replace(cited, start=None, end=None, is_marker=False)


def _present(record: ProviderFacts | Citation) -> dict[str, Json]:
    """Return a record as JSON, without absent fields; a range may begin at 0."""
    document: dict[str, Json] = to_jsonable_python(record)
    return {name: value for name, value in document.items() if value or (name == "start" and value == 0)}
