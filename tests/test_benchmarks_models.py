"""`make lab-model`: its requests name tools that exist, and its counts are right. No model is asked."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.model_tools import PLAIN, SYSTEMS, example_sources, public_sources
from benchmarks.models import (
    REQUESTS,
    Answered,
    ask,
    call_in,
    conversation,
    counts,
    description_jobs,
    jobs,
    provider_model,
    spaced,
    wrong_call,
)
from benchmarks.tables import interval, share
from tests.conformance import corpora

ASKED = tomllib.loads(REQUESTS.read_text("utf-8"))
EXAMPLE = {source.name: source for source in example_sources()}
ARGUMENTS = {"site_id": "harbour", "status": None, "kind": None, "limit": 5, "cursor": None}
"""Arguments of `list_devices`; the strict dialect requires all of them."""


def test_each_request_names_a_tool_of_the_example() -> None:
    assert set(ASKED["example"]) == set(EXAMPLE)
    assert sum(map(len, ASKED["example"].values())) == 60
    assert {each["tool"] for each in (*ASKED["description"], *ASKED["issue"])} <= set(EXAMPLE)
    assert (len(ASKED["description"]), len(ASKED["issue"])) == (10, 10)


def test_each_request_for_a_public_tool_names_one_of_the_corpora() -> None:
    corpora.require()
    sources = public_sources(ASKED["public"])
    assert len({*EXAMPLE, *(source.name for source in sources.values())}) == len(EXAMPLE) + 40


@pytest.mark.parametrize("count", [1, 5])
def test_each_request_is_sent_once_with_its_tool_among_the_offered(count: int) -> None:
    corpora.require()
    found = jobs("", PLAIN, count, ASKED, 1)
    assert sum(len(job.requests) for job in found) == 100
    for job in found:
        assert len({source.name for source in job.sources}) == count
        assert {name for name, _ in job.requests} <= {source.name for source in job.sources}


def test_each_wording_of_a_description_is_that_of_its_tool() -> None:
    for number in (0, 1):
        found = description_jobs("", number, ASKED["example"], ASKED["description"])
        for job, each in zip(found, ASKED["description"], strict=True):
            (tool,) = (
                SYSTEMS[PLAIN][0](source) for source in job.sources if source.name == job.requests[0][0]
            )
            assert json.dumps(each["wordings"][number])[1:-1] in tool.declaration


@pytest.mark.parametrize("issue", ASKED["issue"], ids=lambda issue: issue["wording"])
def test_each_wrong_call_has_one_issue_with_its_wording(issue: Mapping[str, Any]) -> None:
    tool = SYSTEMS[PLAIN][0](EXAMPLE[issue["tool"]])
    call, error = asyncio.run(wrong_call(tool, issue))
    assert call_in(call["content"]) == (tool.name, json.dumps(issue["arguments"]))
    assert json.dumps(issue["wording"])[1:-1] in error["content"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_system_validates_the_same_function(system: str) -> None:
    tool = SYSTEMS[system][0](EXAMPLE["list_devices"])
    assert set(tool.schema["properties"]) == set(ARGUMENTS)
    assert not asyncio.run(tool.check(json.dumps(ARGUMENTS)))
    assert "limit" in asyncio.run(tool.check(json.dumps(ARGUMENTS | {"limit": 500})))


def test_a_call_is_repaired_with_the_error_of_its_system() -> None:
    tools = {"list_devices": SYSTEMS[PLAIN][0](EXAMPLE["list_devices"])}
    answers = iter(["list_devices {}", 'list_devices {"site_id": "harbour"}'])
    read: list[str] = []

    async def complete(messages: list[dict[str, str]]) -> str:
        read.append(messages[-1]["content"])
        return next(answers)

    assert asyncio.run(ask(complete, [{"content": "?"}], tools, "list_devices", 2)) == Answered(True, 1)
    assert "$.site_id" in read[1]


def test_a_valid_call_of_another_tool_is_wrong() -> None:
    tools = {name: SYSTEMS[PLAIN][0](EXAMPLE[name]) for name in ("list_devices", "get_user_data")}

    async def complete(messages: list[dict[str, str]]) -> str:
        return "get_user_data {}"

    assert asyncio.run(ask(complete, [], tools, "list_devices", 2)) == Answered(False, None)


@pytest.mark.parametrize("text", ["search", "search [1]", 'search {"limit": 1', "search 5"])
def test_a_call_without_an_object_names_a_tool_only(text: str) -> None:
    assert call_in(text) == ("search", "")


def test_a_model_of_a_provider_gets_the_same_conversation() -> None:
    asked = conversation([SYSTEMS[PLAIN][0](EXAMPLE["search"])], "What do the manuals say?")
    assert asyncio.run(provider_model("test")(asked, {})) == "success (no tool calls)"


def test_counts_are_cumulative() -> None:
    found = [Answered(True, 0), Answered(True, 2), Answered(False, None), Answered(False, 1)]
    assert counts(found) == {"requests": 4, "right": 2, "valid": [1, 2, 3]}


def test_a_grammar_has_the_spaces_of_the_examples() -> None:
    grammar = 'pair ::= "\\"a\\"" space ":" space text\nroot ::= "{" space pair "," space pair "}" space\n'
    assert spaced(grammar) == 'pair ::= "\\"a\\"" ": " text\nroot ::= " " "{" pair ", " pair "}"\n'


@pytest.mark.parametrize(
    ("passed", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662), (10, 10, 0.7225, 1.0)],
)
def test_intervals_are_those_of_wilson(passed: int, count: int, low: float, high: float) -> None:
    assert interval(passed, count) == pytest.approx((low, high), abs=1e-4)


def test_a_share_has_its_interval() -> None:
    assert share(5, 10) == "50 % (24 to 76)"
