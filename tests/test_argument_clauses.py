"""Clauses that name arguments: hints, conditions, and what sequential calls have in common."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.behaviour_tools import ARGS, RETURN, serving, tool, wrong
from tests.checked import DEVICE, codes
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    CallHint,
    Confirm,
    Design,
    Inject,
    JSONSchema,
    Method,
    Object,
    Payload,
    Result,
    ResultHint,
    Return,
    Sequential,
    Service,
    String,
    Tool,
    Toolset,
    build,
)
from toolgen.dsl.structure import ToolClause


class TestTemplates:
    @pytest.mark.parametrize(
        ("text", "fault", "hint"),
        [
            ("{qurey}", "names 'qurey', which is not one of its arguments", "did you mean 'query'?"),
            ("{query", "has an unpaired '{'", "write '{{' for a literal brace, or complete the pair"),
            ("query}", "has an unpaired '}'", "write '}}' for a literal brace, or complete the pair"),
            ("{}", "has '{}' without a name", "write a name between the braces, or double them"),
            (
                "{query!r}",
                "names 'query!r', which is not one of its arguments",
                "write {query}: only a name is allowed in the braces",
            ),
            (
                "{ query }",
                "names ' query ', which is not one of its arguments",
                "write {query}: only a name is allowed in the braces",
            ),
        ],
    )
    def test_a_name_is_one_of_the_arguments(self, text: str, fault: str, hint: str) -> None:
        for word, clause in ((CallHint(text), "CallHint"), (Confirm(text), "the hint of Confirm")):
            assert wrong(ARGS, word) == ("unknown-hint-name", f"{clause} of tool 'find' {fault}", hint)

    def test_a_sensitive_attribute_is_not_shown(self) -> None:
        """A warning for each such name, in all texts for people."""
        args = Args(Attribute("key", String, "Key.", sensitive=True), Attribute("site", String, "Site."))
        given = Return(Attribute("code", String, "Code.", sensitive=True))
        texts = CallHint("{site} {key} {key} {{key}}"), ResultHint("{code}"), Confirm("Use {key}?")
        found = build(Design("home", "A home.", serving(args, given, *texts)))
        assert [(one.code, one.is_warning, one.hint.split(",")[0]) for one in found.diagnostics] == [
            ("sensitive-hint-name", True, "remove {key}"),
            ("sensitive-hint-name", True, "remove {code}"),
            ("sensitive-hint-name", True, "remove {key}"),
        ]
        assert found.design is not None

    def test_each_fault_is_reported(self) -> None:
        assert codes(serving(ARGS, CallHint("{a} {b} { {a}"))) == ["unknown-hint-name"] * 3

    def test_a_doubled_brace_is_a_brace(self) -> None:
        assert tool(CallHint("{{query}} {{")).facts.call_hint == "{{query}} {{"

    def test_injected_fields_and_artifacts_are_not_shown(self) -> None:
        args = Args(Attribute("session_id", String, "Session.", required=True))
        hint = "remove it: 'session_id' is not shown to people"
        assert wrong(args, Inject("session_id"), CallHint("{session_id}"))[2] == hint
        artifact = Artifact("device", DEVICE, "The device.")
        assert wrong(artifact, ResultHint("{device}"))[2] == "remove it: 'device' is not shown to people"

    def test_a_result_hint_names_the_result(self) -> None:
        assert tool(ARGS, RETURN, ResultHint("{rooms}")).facts.result_hint == "{rooms}"
        assert wrong(ARGS, RETURN, ResultHint("{query}"))[1] == (
            "ResultHint of tool 'find' names 'query', which is not a field of its result"
        )

    def test_what_is_taken_over_from_a_method_may_be_named(self) -> None:
        method = Method(
            "find",
            "Find.",
            Payload(Attribute("query", String, "What.", required=True)),
            Result(Attribute("rooms", ArrayOf(String), "Found.", required=True)),
        )

        def found(*clauses: ToolClause) -> Service:
            return Service(
                "s", "S.", method, Toolset("t", "T.", Tool("find", "Find.", BindTo("find"), *clauses))
            )

        assert codes(found(CallHint("{query}"), ResultHint("{rooms}"), Confirm(when={"query": "a"}))) == []
        assert codes(found(CallHint("{rooms}"))) == ["unknown-hint-name"]

    def test_what_is_unknown_already_is_not_reported_again(self) -> None:
        clauses = BindTo("nothing"), CallHint("{a}"), ResultHint("{b}"), Confirm("{c}", when={"d": 1})
        assert codes(serving(*clauses)) == ["unknown-method"]

    def test_properties_of_a_foreign_schema_may_be_named(self) -> None:
        schema = {"type": "object", "properties": {"query": {"type": "string"}}}
        args = Args(JSONSchema(schema))
        assert tool(args, CallHint("{query}"), Confirm(when={"query": "a"})).facts.call_hint == "{query}"
        assert wrong(args, CallHint("{qurey}"))[2] == "did you mean 'query'?"
        assert wrong(args, Confirm(when={"qurey": "a"}))[2] == "did you mean 'query'?"

    def test_a_foreign_schema_that_tells_no_names_takes_every_name(self) -> None:
        assert tool(Args(JSONSchema({"type": "object"})), CallHint("{query}")).facts.call_hint == "{query}"


class TestConditions:
    @pytest.mark.parametrize(
        ("when", "kept"),
        [
            ({"hard": True}, {"hard": (True,)}),
            ({"mode": ("soft", "firm")}, {"mode": ("soft", "firm")}),
            ({"level": (1, 3), "share": 0.5}, {"level": (1, 3), "share": (0.5,)}),
            ({"share": 1}, {"share": (1,)}),
            ({"query": "all"}, {"query": ("all",)}),
            ({}, {}),
        ],
    )
    def test_values_that_fit_are_kept(self, when: Anything, kept: Anything) -> None:
        confirmation = tool(ARGS, Confirm(when=when)).confirmation
        assert confirmation is not None
        assert confirmation.when == kept

    @pytest.mark.parametrize(
        ("when", "fault", "hint"),
        [
            ({"hrad": True}, "names 'hrad', which is not one of its arguments", "did you mean 'hard'?"),
            (
                {"hard": "yes"},
                "compares 'hard' with 'yes', which it never is: must be a boolean, not a string",
                "write a value of Boolean",
            ),
            ({"hard": 1}, "compares 'hard' with 1, which it never is", "write a value of Boolean"),
            ({"mode": "frim"}, "compares 'mode' with 'frim', which it never is", "did you mean 'firm'?"),
            ({"level": 4}, "compares 'level' with 4, which it never is", "write a value of d.Int(maximum=3)"),
            (
                {"query": "a"},
                "compares 'query' with 'a', which it never is",
                "write a value of d.String(min_length=2)",
            ),
            (
                {"since": "2026-01-31T00:00:00Z"},
                "names 'since', which is DateTime",
                "name a String, an Int, a Float, a Boolean or an enum",
            ),
            (
                {"names": "a"},
                "names 'names', which is ArrayOf(String)",
                "name a String, an Int, a Float, a Boolean or an enum",
            ),
            ({"mode": ()}, "gives no value for 'mode'", "write a value, or several in a tuple"),
            ({"mode": None}, "compares 'mode' with None", "write a string, a number, True or False"),
            ({"share": float("nan")}, "compares 'share' with nan", "write a string, a number, True or False"),
        ],
    )
    def test_what_can_never_hold_is_reported(self, when: Anything, fault: str, hint: str) -> None:
        code, message, found = wrong(ARGS, Confirm(when=when))
        assert code == "bad-when"
        assert message.startswith(f"when of tool 'find' {fault}")
        assert found == hint

    def test_an_injected_field_is_chosen_by_no_model(self) -> None:
        args = Args(Attribute("session_id", String, "Session.", required=True))
        assert wrong(args, Inject("session_id"), Confirm(when={"session_id": "a"})) == (
            "bad-when",
            "when of tool 'find' names 'session_id', which is injected",
            "remove it: the server fills it, so the model does not choose it",
        )

    def test_what_grants_further_calls_has_no_payload(self) -> None:
        reason = Object(Attribute("reason", String, "Why."))
        assert wrong(Confirm(payload=reason, grantable=True)) == (
            "grantable-payload",
            "Confirm of tool 'find' is grantable, but an approval of the tool has a payload",
            "remove grantable=True, or the payload",
        )

    def test_a_condition_is_a_mapping(self) -> None:
        when: Anything = ["hard"]
        assert wrong(Confirm(when=when))[0] == "wrong-argument"


class TestSequential:
    @pytest.mark.parametrize(
        ("by", "found"),
        [
            (None, ""),
            ("session", "session"),
            ("mode", "mode"),
            ("since", "since"),
            ("session_id", "session_id"),
        ],
    )
    def test_what_the_calls_have_in_common_stands_in_the_tree(self, by: str | None, found: str) -> None:
        args = Args(*ARGS.children, Attribute("session_id", String, "Session.", required=True))
        facts = tool(args, Inject("session_id"), Sequential(by=by)).facts
        assert (facts.is_sequential, facts.sequential_by) == (True, found)

    def test_what_no_call_has_is_reported(self) -> None:
        assert wrong(ARGS, Sequential(by="modes")) == (
            "bad-sequential",
            "Sequential of tool 'find' names 'modes', which is not one of its arguments",
            "did you mean 'mode'?",
        )
        assert wrong(ARGS, Sequential(by="names"))[1] == (
            "Sequential of tool 'find' names 'names', which is ArrayOf(String)"
        )
