"""`toolgen schema`: the tools of a project as a provider takes them, from the shell."""

from __future__ import annotations

import json

import pytest

from tests.selection import first

from .conftest import ProjectFolder


@pytest.fixture
def generated(project: ProjectFolder) -> ProjectFolder:
    project.run("gen")
    return project


def test_the_fragment_of_a_request_is_printed(generated: ProjectFolder) -> None:
    done = generated.run("schema", "--for", "openai-strict")
    assert done.code == 0
    (tool,) = json.loads(done.out)
    assert tool["function"]["name"] == "greet"
    assert tool["function"]["strict"] is True
    assert tool["function"]["parameters"]["required"] == ["name"]
    assert done.err == "openai-strict: tools 1, strict 1, losses 1\n"
    compact = generated.run("schema", "--for", "openai-strict", "--format", "json")
    assert json.loads(compact.out) == [tool]
    assert compact.out.count("\n") == 1


def test_losses_are_lines(generated: ProjectFolder) -> None:
    done = generated.run("schema", "--for", "anthropic-strict", "--losses")
    assert done.out == "hall.people.greet: /properties/name maxLength (described): At most 40 characters.\n"
    done = generated.run("schema", "--for", "anthropic-strict", "--losses", "--format", "json")
    assert json.loads(done.out) == {
        "tool": "hall.people.greet",
        "path": "/properties/name",
        "keyword": "maxLength",
        "action": "described",
        "detail": "At most 40 characters.",
    }


def test_one_tool_or_another_file(generated: ProjectFolder) -> None:
    by_id = generated.run("schema", "--for", "gemini", "--tool", "hall.people.greet")
    assert by_id.out == generated.run("schema", "--for", "gemini", "--tool", "greet").out
    tool = {"name": "go", "payload": {"schema": {"type": "object"}}}
    native = {"name": "search", "kind": "native", "provider": "openai", "config": {}}
    generated.write("other.json", json.dumps({"tools": [tool, native]}))
    done = generated.run("schema", "other.json", "--for", "openai")
    assert [one["function"]["name"] for one in json.loads(done.out)] == ["go"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("arguments", "message"),
    first(
        [
            (("--for", "gpt"), "the dialect 'gpt' does not exist"),
            ((), "Invalid value for --for: required; one of: openai, openai-strict, openai-responses,"),
            (("--for", "openai", "--tool", "nope"), "has no tool 'nope'"),
            (
                ("none.json", "--for", "openai"),
                "cannot read none.json: No such file or directory\n"
                "  hint: correct the path, or run toolgen gen",
            ),
            (("pyproject.toml", "--for", "openai"), "is not JSON"),
            (("list.json", "--for", "openai"), "is not a tool catalog"),
            (("git.mcp.json", "--for", "openai"), "is not a tool catalog"),
        ],
        3,
    ),
)
def test_what_cannot_be_read_is_said(
    generated: ProjectFolder, arguments: tuple[str, ...], message: str
) -> None:
    generated.write("list.json", '{"tools": [{"name": "go", "payload": 3}]}')
    generated.write(
        "git.mcp.json", '{"lock": 1, "tools": [{"name": "go", "inputSchema": {"type": "object"}}]}'
    )
    done = generated.run("schema", *arguments)
    assert done.code == 2
    assert message in done.err.replace("\n", " ") or message in done.err
