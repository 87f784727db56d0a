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
"""Reason for the end of an answer.

It was complete, reached the token limit, was stopped by a filter, made calls, or ended with an error.
"""


@frozen_record
class Citation:
    """A source that a provider cites for a part of an answer."""

    url: str = ""
    """URL of a web page; "" for any other source."""
    document: str = ""
    """The provider's own ID of a file or a document; "" if it has none."""
    title: str = ""
    start: int | None = None
    """Start of the range in the answer's text, in Unicode code points; None without a range."""
    end: int | None = None
    """Position after the range: `text[start:end]`."""
    is_marker: bool = False
    """Whether the range is a marker or link that the model wrote, for example `[1]`, not supported text."""


@frozen_record
class ProviderFacts:
    """Facts of the provider about an answer; facts that it does not report are absent."""

    finish_reason: FinishReason | None = None
    """Normalized finish reason; None if the provider's own reason has no equivalent."""
    provider_finish_reason: str = ""
    """The provider's own reason, for example `end_turn`."""
    citations: tuple[Citation, ...] = ()
    grounding: object = None
    """The citation data of the provider, as JSON; only stored in the conversation."""


def facts_document(facts: ProviderFacts, length: int = sys.maxsize) -> ProviderDocument:
    """Return the facts for events and records; citation ranges beyond `length` of the text are removed."""
    document = _present(replace(facts, citations=(), grounding=None))
    if facts.citations:
        document["citations"] = [_present(_within(cited, length)) for cited in facts.citations]
    return cast(ProviderDocument, document)


def facts_of(document: ProviderDocument) -> ProviderFacts:
    """Return the facts of a document from `facts_document`."""
    cited = tuple([Citation(**each) for each in document.get("citations", ())])
    word = document.get("provider_finish_reason", "")
    return ProviderFacts(
        finish_reason=document.get("finish_reason"), provider_finish_reason=word, citations=cited
    )


def portable_facts(facts: ProviderFacts | None) -> ProviderFacts | None:
    """Return the facts in a form that every store accepts."""
    if facts is None:
        return None
    return replace(facts_of(portable_json(facts_document(facts))), grounding=portable_json(facts.grounding))


def _within(cited: Citation, length: int) -> Citation:
    is_within = cited.end is not None and cited.end <= length
    return cited if is_within else replace(cited, start=None, end=None, is_marker=False)


def _present(record: ProviderFacts | Citation) -> dict[str, Json]:
    """Return a record as JSON, without absent fields; a start of 0 is kept."""
    document: dict[str, Json] = to_jsonable_python(record)
    return {name: value for name, value in document.items() if value or (name == "start" and value == 0)}
