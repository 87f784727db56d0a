"""docs/observability.md: its code sends spans to a receiver on this machine in the place of each backend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.conventions import violations
from tests.otlp import Receiver, received
from tests.test_docs import ROOT, blocks, run_python
from toolgen.events.telemetry.spans import SCOPE

PAGE = ROOT / "docs/observability.md"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
BACKENDS = [dict(line.split("=", 1) for line in text.splitlines()) for _, text in blocks(PAGE, "dotenv")]
"""The environment of each backend that the page names."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


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
    run_python(PAGE)
    spans = [span for span in received(receiver.bodies) if span.scope[0] == SCOPE]
    assert [wrong for span in spans for wrong in violations(span)] == []
    shown = next(text for _, text in blocks(PAGE, "text"))
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
