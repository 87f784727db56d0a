"""What four providers refuse of a conversation, by their references; a request that passes here is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NoReturn

_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")


class RefusedError(Exception):
    """The provider would answer with HTTP 400."""


def parsed(body: bytes) -> Any:
    """Return the JSON of a body.

    Raises:
        RefusedError: it is no JSON (RFC 8259), or holds what is no Unicode.
    """
    try:
        document = json.loads(body.decode(), parse_constant=_no_number)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"the body is not JSON: {error}") from error
    return document


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def check_chat(body: Mapping[str, Any]) -> None:
    """Check a conversation of chat completions: each call is followed by its result."""
    open_: list[str] = []
    seen: set[str] = set()
    _require(bool(body["messages"]), "there are no messages")
    for message in body["messages"]:
        if message["role"] == "tool":
            _require(message["tool_call_id"] in open_, f"a result without a call: {message}")
            open_.remove(message["tool_call_id"])
            continue
        _require(not open_, f"calls without results: {open_}")
        for call in message.get("tool_calls") or ():
            _check_call(call["id"], call["function"]["name"], seen)
            _check_arguments(call["function"]["arguments"])
            open_.append(call["id"])
    _require(not open_, f"calls without results: {open_}")
    _require(body["messages"][-1]["role"] != "assistant", "the last message is the model's own")


def check_responses(body: Mapping[str, Any]) -> None:
    """Check a conversation of Responses: each call has its result, and each result its call."""
    calls: list[str] = []
    results: list[str] = []
    seen: set[str] = set()
    items = body["input"]
    _require(bool(items), "there is no input")
    for item in items:
        if item.get("type") == "function_call":
            _check_call(item["call_id"], item["name"], seen)
            _check_arguments(item["arguments"])
            calls.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            _require(item["call_id"] in calls, f"a result without a call: {item}")
            results.append(item["call_id"])
    _require(sorted(calls) == sorted(results), f"{calls} are called, {results} have results")
    _require(items[-1].get("role") != "assistant", "the last message is the model's own")


def check_anthropic(body: Mapping[str, Any]) -> None:
    """Check a conversation of messages, of which those of one role in a row are one: results stand first."""
    open_: list[str] = []
    seen: set[str] = set()
    messages = body["messages"]
    _require(bool(messages) and messages[0]["role"] == "user", "a person does not speak first")
    _require(messages[-1]["role"] == "user", "the last message is the model's own")
    _require(all(message["content"] for message in messages), "an empty message")
    for _, turn in groupby(messages, key=itemgetter("role")):
        blocks = [block for message in turn for block in _blocks(message["content"])]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        kinds = [block["type"] for block in blocks]
        _require("tool_result" not in kinds[len(results) :], "something stands before the results")
        _require(sorted(results) == sorted(open_), f"{open_} are called, {results} have results")
        open_ = []
        for block in blocks:
            if block["type"] == "text":
                _require(bool(block["text"].strip()), "a text is blank")
            if block["type"] == "tool_use":
                _check_call(block["id"], block["name"], seen)
                _require(isinstance(block["input"], dict), f"the input is no object: {block['input']!r}")
                open_.append(block["id"])


def check_gemini(body: Mapping[str, Any]) -> None:
    """Check the contents of a conversation: the results of calls follow them, as many and by their names."""
    open_: list[str] = []
    contents = body["contents"]
    _require(bool(contents) and contents[0]["role"] == "user", "a person does not speak first")
    _require(contents[-1]["role"] == "user", "the last content is the model's own")
    for content in contents:
        _require(bool(content["parts"]), f"a content without parts: {content}")
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        named = [result["name"] for result in results]
        _require(sorted(named) == sorted(open_), f"{open_} are called, {named} have results")
        _require(all(isinstance(one["response"], dict) for one in results), "a response is no object")
        open_ = []
        for part in content["parts"]:
            if call := part.get("functionCall"):
                _require(bool(_GEMINI_NAME.fullmatch(call["name"])), f"the name {call['name']!r}")
                _require(isinstance(call.get("args", {}), dict), f"the arguments are no object: {call}")
                open_.append(call["name"])
    _require(not open_, f"calls without results: {open_}")


def _blocks(content: str | Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from content


def _check_call(id_: str, name: str, seen: set[str]) -> None:
    _require(bool(_ID.fullmatch(id_)), f"the id {id_!r}")
    _require(bool(_NAME.fullmatch(name)), f"the name {name!r}")
    _require(id_ not in seen, f"the id {id_!r} twice")
    seen.add(id_)


def _check_arguments(text: str) -> None:
    """Check arguments that are a text; OpenAI takes any, other servers of its format take only objects."""
    found = parsed(text.encode())
    _require(isinstance(found, dict), f"the arguments are no object: {text:.80}")


def _require(is_so: bool, why: str) -> None:
    if not is_so:
        raise RefusedError(why)
