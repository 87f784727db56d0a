"""`MCPToolset` in a design: the tools of a lock, and what is said of a lock that is none."""

from __future__ import annotations

import json
import os
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolgen.contract.mcp_lock import (
    LockError,
    MCPLock,
    contract_digest,
    listed_digest,
    lock_text,
    make_lock,
    read_lock,
)
from toolgen.dsl import build
from toolgen.dsl.evaluation import Evaluation

DESIGN = """
from toolgen.dsl import *

it = MCPToolset("it", lock="it.mcp.json")
design = Design("d", "A design.", Service("s", "Serves.", it, Agent("a", "Asks.", Use(it))))
"""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ECHO: dict[str, Any] = {"name": "echo", "description": "Say it again.", "inputSchema": TEXT}


def lock(*tools: Mapping[str, Any]) -> MCPLock:
    return make_lock("2026-07-28", "Echo\u200b server", "1", tools)


def evaluated(folder: Path, text: str | None) -> Evaluation:
    """Return the evaluation of the design beside a lock of this text."""
    (folder / "design.py").write_text(DESIGN)
    if text is not None:
        (folder / "it.mcp.json").write_text(text)
    return build(runpy.run_path(str(folder / "design.py"))["design"])


def tools(folder: Path, *listed: Mapping[str, Any]) -> dict[str, Any]:
    evaluation = evaluated(folder, lock_text(lock(*listed)))
    assert evaluation.design is not None, evaluation.diagnostics
    return {tool.name: tool for tool in evaluation.design.services[0].toolsets[0].tools}


def test_a_lock_is_read_as_it_was_written() -> None:
    written = lock({**ECHO, "_meta": {"x": 1}}, {**ECHO, "name": "a"})
    text = lock_text(written)
    assert read_lock(text) == written
    assert lock_text(read_lock(text)) == text
    assert [tool["name"] for tool in json.loads(text)["tools"]] == ["a", "echo"]
    assert "_meta" not in text


def test_an_export_of_one_says_where_it_belongs(tmp_path: Path) -> None:
    text = DESIGN.replace("it, Agent", "Agent").replace("Use(it)", "Export(it)")
    (tmp_path / "design.py").write_text(text)
    (tmp_path / "it.mcp.json").write_text(lock_text(lock(ECHO)))
    (finding,) = build(runpy.run_path(str(tmp_path / "design.py"))["design"]).diagnostics
    assert (finding.message, finding.hint) == (
        "toolset of Export is MCPToolset 'it', not a Toolset",
        "put it into Service, and use it in agents with d.Use(…): its server executes the tools",
    )


def test_an_annotation_of_another_type_is_left_out(tmp_path: Path) -> None:
    facts = {**ECHO, "annotations": {"title": 5, "readOnlyHint": "yes", "idempotentHint": True}}
    echo = tools(tmp_path, facts)["echo"]
    assert (echo.facts.title, echo.facts.annotations) == ("Echo", {"idempotent": True})


def test_a_pattern_that_may_take_long_is_not_matched(tmp_path: Path) -> None:
    properties = {
        "slow": {"type": "string", "pattern": "(?=.*c)[ab]*", "maxLength": 9},
        "quick": {"type": "string", "pattern": "^[ab]*$"},
    }
    facts = {
        **ECHO,
        "inputSchema": {"type": "object", "properties": properties},
        "outputSchema": properties["slow"],
    }
    found = str(tools(tmp_path, facts)["echo"])
    assert "(?=" not in found
    assert "^[ab]*$" in found


def test_a_schema_of_very_many_levels_is_one_finding(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"type": "object", "properties": {"a": deep}}
    (finding,) = evaluated(tmp_path, lock_text(lock({**ECHO, "inputSchema": deep}))).diagnostics
    assert finding.code == "bad-lock"
    assert "is nested more than 300 levels deep" in finding.message


def test_a_title_is_cleaned_and_cut(tmp_path: Path) -> None:
    echo = tools(tmp_path, {**ECHO, "title": " Echo\u200b\n" + "x" * 5_000})["echo"]
    assert echo.facts.title.startswith("Echo\\u200b xxx")
    assert len(echo.facts.title) < 250


def test_the_order_of_keys_is_kept_and_counts_for_nothing() -> None:
    turned = {**ECHO, "inputSchema": dict(reversed(TEXT.items()))}
    assert contract_digest(turned) == contract_digest(ECHO)
    assert contract_digest({**ECHO, "description": "Another."}) == contract_digest(ECHO)
    assert contract_digest({**ECHO, "annotations": {"readOnlyHint": True}}) != contract_digest(ECHO)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (lock_text(lock(ECHO)).replace("Say it", "Sing it"), "was edited: the tool 'echo' differs from"),
        ("{", "is not JSON"),
        ("[]", "is not a lock file of an MCP server"),
        (
            lock_text(lock(ECHO)).replace('"lock": 1', '"lock": 2'),
            "has lock format 2, and this toolgen",
        ),
        (
            lock_text(lock(ECHO)).replace('"lock": 1', '"lock": true'),
            "has lock format True, and this",
        ),
        (lock_text(lock(ECHO)).replace('"kind"', '"of"'), "is a lock file of an earlier toolgen"),
        (lock_text(lock(ECHO)).replace('"digest"', '"was"'), "tool number 1 has no name, no schema or"),
        (lock_text(lock({**ECHO, "name": ""})), "tool number 1 has no name, no schema or"),
        (lock_text(lock(ECHO, ECHO)), "has the tool 'echo' twice"),
        (lock_text(lock({**ECHO, "title": 5})), "title of the tool 'echo' has the wrong type"),
        (lock_text(lock({**ECHO, "description": ["a"]})), "description of the tool 'echo' has the wrong"),
        (
            lock_text(lock({**ECHO, "outputSchema": "design.py"})),
            "outputSchema of the tool 'echo' has the wrong",
        ),
        (lock_text(lock({**ECHO, "annotations": True})), "annotations of the tool 'echo' has the wrong type"),
        (lock_text(lock({**ECHO, "icons": {}})), "icons of the tool 'echo' has the wrong type"),
        (
            lock_text(lock({**ECHO, "name": "x" * 5_000})).replace("Say", "Sing"),
            f"the tool '{'x' * 100}' differs",
        ),
        (
            lock_text(lock(ECHO)).replace('"Say', r'"\\ud800Say'.replace("\\\\", "\\")),
            "contains a lone surrogate",
        ),
        (lock_text(lock(ECHO)).replace('"lock": 1', '"lock": NaN'), "is not JSON: NaN is not a JSON number"),
        ("[" * 100_000, "is not JSON"),
        ("[" * 301 + "]" * 301, "is nested more than 300 levels deep"),
    ],
)
def test_a_lock_that_is_none_is_one_finding(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(LockError, match=fault):
        read_lock(text)
    evaluation = evaluated(tmp_path, text)
    (finding,) = evaluation.diagnostics
    assert finding.code == "bad-lock"
    assert fault in finding.message
    assert "'it.mcp.json'" in finding.message
    assert finding.hint.startswith("run `toolgen import mcp --stdio 'command …' --out it.mcp.json`")


@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_lock_that_is_no_file_is_not_read(put: Callable[[Path], object], tmp_path: Path) -> None:
    put(tmp_path / "it.mcp.json")
    (finding,) = evaluated(tmp_path, None).diagnostics
    assert (finding.code, "is not a regular file" in finding.message) == ("bad-lock", True)


def test_tools_have_the_facts_of_the_lock(tmp_path: Path) -> None:
    facts = {
        **ECHO,
        "title": "Echo",
        "outputSchema": TEXT,
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
    }
    echo = tools(tmp_path, facts)["echo"]
    assert (echo.id, echo.facts.title, echo.facts.description) == ("s.it.echo", "Echo", "Say it again.")
    assert echo.facts.meta["mcp"] == {
        "tool": "echo",
        "digest": contract_digest(facts),
        "pin": listed_digest(facts),
        "structured": True,
        "untrusted": True,
    }


def test_names_become_those_of_a_design(tmp_path: Path) -> None:
    listed = [{**ECHO, "name": name} for name in ("getSum", "get-sum", "get_sum", "2fast", "x" * 80, "…")]
    found = {tool.facts.meta["mcp"]["tool"]: name for name, tool in tools(tmp_path, *listed).items()}
    assert found["2fast"] == "tool_2_fast"
    assert [found[own] for own in ("get_sum", "get-sum", "getSum")] == ["get_sum", "get_sum_2", "get_sum_3"]
    assert found["x" * 80] == "x" * 64
    assert found["…"] == "tool"


def test_the_toolset_names_its_server_without_hidden_characters(tmp_path: Path) -> None:
    evaluation = evaluated(tmp_path, lock_text(lock(ECHO)))
    assert evaluation.design is not None
    (toolset,) = evaluation.design.services[0].toolsets
    assert toolset.description == "Tools of the MCP server Echo\\u200b server."
    assert toolset.lock == "it.mcp.json"


def test_a_schema_that_toolgen_cannot_read_is_told_at_the_toolset(tmp_path: Path) -> None:
    evaluation = evaluated(tmp_path, lock_text(lock({**ECHO, "inputSchema": {"type": "nope"}})))
    (finding,) = evaluation.diagnostics
    assert (finding.code, finding.place.line) == ("bad-schema", 4)


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"name": "sa\u200by"}, "/name has invisible characters"),
        (
            {"inputSchema": {"properties": {"a\u202e": {}}}},
            "/properties/a\\u202e has invisible characters",
        ),
        ({"outputSchema": {"const": "\U000e0041"}}, "/const has invisible characters"),
    ],
)
def test_a_tool_with_a_name_or_a_value_that_nobody_sees_is_reported(
    facts: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    evaluation = evaluated(tmp_path, lock_text(lock({**ECHO, **facts})))
    (finding,) = evaluation.diagnostics
    assert finding.code == "bad-lock"
    assert fault in finding.message
    assert "\u200b" not in finding.message


def test_a_lock_is_read_in_normal_form(tmp_path: Path) -> None:
    hidden = "a\u202eb"
    schema = {**TEXT, "title": hidden, "x-hidden": hidden, "$comment": hidden}
    echo = tools(tmp_path, {**ECHO, "description": "See file:///etc.\u200b", "inputSchema": schema})["echo"]
    assert echo.facts.description == "See [no web page] file:///etc.\\u200b"
    assert echo.payload.foreign.schema == {**TEXT, "title": "a\\u202eb"}


def test_the_digest_of_what_is_listed_has_texts_and_no_more_than_a_lock() -> None:
    assert listed_digest({**ECHO, "_meta": {"x": 1}, "title": None}) == listed_digest(ECHO)
    changes: list[dict[str, Any]] = [{"title": "Echo"}, {"description": "Say it."}, {"icons": []}]
    assert all(listed_digest({**ECHO, **facts}) != listed_digest(ECHO) for facts in changes)
