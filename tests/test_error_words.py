"""Declared errors: the checked tree, and what is wrong with them."""

from __future__ import annotations

import pytest

from tests.checked import DEVICE, built, codes, only
from toolgen.contract import tool_facts
from toolgen.contract.names import RESERVED_CODES
from toolgen.dsl import (
    ArrayOf,
    Attribute,
    BindTo,
    Design,
    Error,
    Int,
    Method,
    Object,
    Service,
    String,
    Tool,
    Toolset,
    build,
)
from toolgen.dsl.structure import ToolClause

GONE = Error("gone", DEVICE, "The device is gone.")
WAIT = Object(Attribute("wait_s", Int, "Seconds."))


def serving(*clauses: ToolClause, method: tuple[Error, ...] = ()) -> Service:
    bind = [BindTo("find")] if method else []
    tool = Tool("find", "Find.", *bind, *clauses)
    return Service("s", "Serves.", Method("find", "Find.", *method), Toolset("t", "Tools.", tool))


def errors(*clauses: ToolClause, method: tuple[Error, ...] = ()) -> tuple[tool_facts.Error[str], ...]:
    return built(serving(*clauses, method=method), DEVICE).services[0].toolsets[0].tools[0].errors


def test_a_tool_without_the_word_has_none() -> None:
    assert errors() == ()


def test_an_error_has_a_named_type_an_object_or_none() -> None:
    found = errors(GONE, Error("late", WAIT, "Later.", retryable=True), Error("busy", description="Busy."))
    assert found == (
        tool_facts.Error(name="gone", description="The device is gone.", type="Device"),
        tool_facts.Error(name="late", description="Later.", type="FindLate", is_retryable=True),
        tool_facts.Error(name="busy", description="Busy."),
    )


def test_a_bound_tool_has_the_errors_of_its_method_after_its_own() -> None:
    busy = Error("busy", description="Busy.")
    own = Error("gone", "Device", "The device of the site is gone.")
    found = errors(own, Error("late", WAIT, "Later."), method=(GONE, busy))
    assert [(error.name, error.description) for error in found] == [
        ("gone", "The device of the site is gone."),
        ("late", "Later."),
        ("busy", "Busy."),
    ]


@pytest.mark.parametrize("code", sorted(RESERVED_CODES))
def test_what_the_runtime_tells_itself_is_no_name(code: str) -> None:
    found = only(serving(Error(code, description="It is.")))
    assert (found.code, found.hint) == ("reserved-name", f"choose another name, such as 'find_{code}'")


def test_the_same_name_twice() -> None:
    assert codes(serving(GONE, GONE)) == ["duplicate-name"]


@pytest.mark.parametrize("type_", [String, ArrayOf(DEVICE)], ids=["text", "array"])
def test_details_are_an_object(type_: object) -> None:
    assert codes(serving(Error("gone", type_, "It is."))) == ["not-an-object"]  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Error("Gone", DEVICE, "It is."), "bad-name"),
        (Error("gone", DEVICE), "missing-description"),
        (Error("gone", "Devise", "It is."), "unknown-type"),
        (Error("result", DEVICE, "It is."), ""),
    ],
    ids=["capital", "no description", "unknown type", "codec"],
)
def test_what_is_wrong_with_one(error: Error, code: str) -> None:
    assert codes(serving(error), DEVICE) == ([code] if code else [])


def test_a_description_in_the_place_of_the_type() -> None:
    words = Design("d", "D.", serving(Error("busy", "It is busy.")))
    hints = {one.code: one.hint for one in build(words).diagnostics}
    assert hints["unknown-type"] == (
        "write a type before it; if it is the description, write description='It is busy.'"
    )


def test_two_tools_whose_constants_are_one() -> None:
    toolset = Toolset("t", "Tools.", Tool("find", "Find.", GONE), Tool("find_gone", "Find what is gone."))
    assert codes(Service("s", "Serves.", toolset)) == ["identifier-clash"]


def test_a_method_error_of_another_type_or_without_a_name() -> None:
    other = Error("gone", description="Gone.")
    assert codes(serving(other, method=(GONE,))) == ["error-mismatch"]
    assert codes(serving(method=(Error("gone", WAIT, "Gone."),))) == ["unnamed-error"]
