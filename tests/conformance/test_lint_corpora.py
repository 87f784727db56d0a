"""The linter over public tools: docs/executors.md has the share that each rule marks, and so its default."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from tests.conformance import corpora
from toolgen.checks.linting import RULES, LintedTool, LintSettings, lint

DOCUMENT = Path(__file__).parents[2] / "docs" / "executors.md"
ALL = LintSettings(levels=dict.fromkeys(RULES, "warning"))


def collections() -> dict[str, list[LintedTool]]:
    """Return the tools with a schema that is valid, by their source: a model sees those of one together."""
    tools = defaultdict[str, list[LintedTool]](list)
    for file in corpora.files():
        for record in corpora.records(file):
            facts, result = record.facts, record.output_schema
            if not record.is_broken and isinstance(record.input_schema, dict):
                tool = LintedTool(
                    id=record.id,
                    name=str(facts["name"]),
                    toolset="",
                    description=str(facts.get("description") or ""),
                    payload=record.input_schema,
                    result=result if isinstance(result, dict) else None,
                    has_examples=False,
                    is_bounded=False,
                    has_annotations=bool(facts.get("annotations")),
                )
                tools[str(facts.get("source", file.stem))].append(tool)
    return tools


def test_the_document_says_what_each_rule_marks_and_none_that_is_on_marks_a_third() -> None:
    corpora.require()
    sources = collections()
    count = sum(map(len, sources.values()))
    marked = Counter[str]()
    for tools in sources.values():
        findings = lint(tools, ALL).findings
        marked.update(code for code, _ in {(finding.code, finding.tool) for finding in findings})
    text = DOCUMENT.read_text("utf-8")
    assert f"measured on {count:,} tools with a" in text
    for code in (*RULES, "similar-tools"):
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{code}` |")]
        assert f"| {marked[code] / count:.1%} |".replace("%", " %") in row, row
        assert ("| on |" in row) == (marked[code] * 3 < count)
