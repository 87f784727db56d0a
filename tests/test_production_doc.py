"""docs/production.md, but what needs PostgreSQL or Temporal: its spans go to a receiver on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.conventions import violations
from tests.otlp import Receiver, received
from tests.test_docs import PRODUCTION, blocks, run_python
from toolgen.events.telemetry.spans import SCOPE

SPANS = "Trace with OpenTelemetry"
PLAIN = "Run a worker", "Record metrics", "Runbook"
SERVERS = "Run several workers on Temporal", "Store data in PostgreSQL"
"""Sections that tests/conformance/test_production_doc.py and tests/conformance/postgres/test_doc.py run."""
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
BACKENDS = [
    dict(line.split("=", 1) for line in text.splitlines()) for _, text in blocks(PRODUCTION, "dotenv")
]
"""The environment of each backend that the page names."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_the_code_that_needs_no_server_prints_what_the_page_shows() -> None:
    run_python(PRODUCTION, *PLAIN)


def test_every_section_with_code_is_run() -> None:
    _, *parts = re.split(r"^## ", PRODUCTION.read_text("utf-8"), flags=re.MULTILINE)
    sections = {part.partition("\n")[0] for part in parts if "```python" in part}
    assert sections == {*PLAIN, SPANS, *SERVERS}


@pytest.mark.exhaustive
@pytest.mark.parametrize("settings", BACKENDS, ids=lambda settings: urlsplit(settings[ENDPOINT]).hostname)
def test_the_code_sends_the_spans_that_the_page_shows(
    settings: dict[str, str], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = urlsplit(settings[ENDPOINT])
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(ENDPOINT, f"{receiver.url}{base.path}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    run_python(PRODUCTION, SPANS)
    spans = [span for span in received(receiver.bodies) if span.scope[0] == SCOPE]
    assert [wrong for span in spans for wrong in violations(span)] == []
    shown = next(text for _, text in blocks(PRODUCTION, "text", within=SPANS))
    for name in re.findall(r"(?:invoke_agent|plan|chat|execute_tool) \w+", shown):
        assert name in {span.name for span in spans}
    assert "chat small-2" in {span.name for span in spans}
    assert {headers["path"] for headers in receiver.headers} == {f"{base.path}/v1/traces"}
    for told in filter(None, settings.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",")):
        name, _, value = told.partition("=")
        sent = {key.lower(): text for key, text in receiver.headers[0].items()}
        assert sent[name.lower()] == value.replace("%20", " ")


def test_the_page_names_three_kinds_of_backend() -> None:
    assert len(BACKENDS) == 3
