"""A function with the JSON Schema of its author: what the model reads, checked against the function."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest

from tests.catalog_entries import catalog_entry
from tests.runtime.tools import META
from tests.runtime.typed_functions import issues
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    ConfirmSpec,
    Continue,
    Hook,
    RegistrationError,
    Runtime,
    ToolCall,
    ToolContext,
    Verdict,
)
from toolgen.runtime.functions import Sensitive

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "pattern": "^[A-Z]", "description": "Such as Ulm."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
    },
    "required": ["city"],
}


def forecast(city: str, days: int = 3, unit: Literal["c", "f"] = "c") -> dict[str, Any]:
    """Forecast the weather."""
    return {"city": city, "days": days, "unit": unit}


def test_the_model_reads_the_schema_of_the_author_and_no_parameter_that_it_leaves_out() -> None:
    tool = func_tool(forecast, input_schema=SCHEMA)
    assert tool.spec.payload.schema == {**SCHEMA, "additionalProperties": False}
    assert catalog_entry(tool.spec)["payload"] == {
        "name": "ForecastPayload",
        "schema": tool.spec.payload.schema,
    }
    (issue,) = issues(tool, '{"city": "Ulm", "unit": "f"}')
    assert (issue.path, issue.constraint) == ("$.unit", "unknown_field")


async def test_a_call_has_to_fit_the_schema_and_the_function() -> None:
    runtime = Runtime()
    runtime.tools.register(
        function_toolset("x.tools", [func_tool(forecast, toolset="x.tools", input_schema=SCHEMA)])
    )
    assert (await runtime.call("forecast", {"city": "Ulm"})).json == b'{"city":"Ulm","days":3,"unit":"c"}'
    assert (await runtime.call("forecast", {"city": "Ulm", "days": 7})).status == "ok"
    refused = json.loads((await runtime.call("forecast", {"city": "ulm", "days": 8})).json)
    assert [(issue["path"], issue["constraint"]) for issue in refused["issues"]] == [
        ("$.city", "invalid_pattern"),
        ("$.days", "invalid_range"),
    ]


def test_rules_of_the_types_hold_beside_the_schema() -> None:
    def pick(name: Annotated[str, "A name."], kind: Literal["a", "b"]) -> None: ...

    schema = {
        "type": "object",
        "properties": {"name": {}, "kind": {"type": "string"}},
        "required": ["name", "kind"],
    }
    tool = func_tool(pick, input_schema=schema)
    found = issues(tool, '{"name": 3, "kind": "c"}')
    assert [(issue.path, issue.constraint) for issue in found] == [
        ("$.name", "invalid_type"),
        ("$.kind", "invalid_enum_value"),
    ]
    (issue,) = issues(tool, '{"name": null, "kind": "a"}')
    assert (issue.path, issue.constraint) == ("$.name", "invalid_type")
    assert issues(tool, "no JSON")
    (issue,) = issues(tool, json.dumps({"name": "x" * 20_000_000, "kind": "a"}))
    assert (issue.path, issue.constraint) == ("$", "invalid_length")


class Doubles(Hook):
    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return Continue(payload=payload.model_copy(update={"days": payload.days * 2}))


@pytest.mark.parametrize(("days", "status"), [(2, "ok"), (5, "error")])
async def test_what_a_person_approved_is_what_runs(days: int, status: str) -> None:
    """The frozen arguments fit the schema again, with the defaults of what nobody set."""
    tool = func_tool(
        forecast, toolset="x.tools", input_schema=SCHEMA, confirm=ConfirmSpec(hint="Ask {city}?")
    )
    runtime = Runtime(engine=InProcessEngine(), hooks=[Doubles()])
    runtime.tools.register(function_toolset("x.tools", [tool]))
    async with runtime:
        asked = await runtime.call("forecast", {"city": "Ulm", "days": days}, META)
        if asked.suspension is not None:
            assert asked.suspension.arguments == {"city": "Ulm", "days": 4, "unit": "c"}
            asked = await runtime.suspensions.answer(
                asked.suspension.token, {"approved": True}, session_id=META.session_id
            )
    assert asked.status == status, asked.json


@pytest.mark.parametrize(
    "when",
    [{}, {"days": (3,)}, {"unit": ("c",)}, {"place": (None,)}],
    ids=["always", "shown", "hidden", "null"],
)
async def test_a_person_reads_and_rules_see_the_defaults(when: dict[str, Any]) -> None:
    """Also of parameters that the schema leaves out: what nobody sets is what runs."""

    def tell(city: str, days: int = 3, unit: str = "c", place: str | None = None) -> list[Any]:
        return [city, days, unit, place]

    confirm = ConfirmSpec(hint="Ask about {city}, {days} {unit}?", when=when)
    schema = of({"days": {"type": "integer"}, "place": {"type": "string"}})
    tool = func_tool(tell, toolset="x.tools", input_schema=schema, confirm=confirm)
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("x.tools", [tool]))
    async with runtime:
        asked = await runtime.call("tell", {"city": "Ulm"}, META)
        assert asked.suspension is not None
        assert asked.suspension.question == "Ask about Ulm, 3 c?"
        assert asked.suspension.arguments == {"city": "Ulm", "days": 3, "unit": "c"}
        token, session = asked.suspension.token, META.session_id
        done = await runtime.suspensions.answer(token, {"approved": True}, session_id=session)
    assert done.result == ["Ulm", 3, "c", None]


@pytest.mark.parametrize("arguments", [{"days": 3}, {"days": 4}, {"unit": "k"}])
async def test_a_rule_about_what_is_there_holds_for_what_was_sent(arguments: dict[str, Any]) -> None:
    def tell(days: int = 3, unit: str | None = None) -> list[Any]:
        return [days, unit]

    either = [{"required": ["days"]}, {"required": ["unit"]}]
    properties = {"days": {"type": "integer"}, "unit": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "oneOf": either}
    payload = func_tool(tell, input_schema=schema).spec.payload
    for document in ("{}", '{"days": 1, "unit": "k"}'):
        assert issues(func_tool(tell, input_schema=schema), document)
    decoded = payload.decode(arguments)
    assert payload.decode(payload.encode(decoded)) == decoded


def test_sensitive_parameters_stay_sensitive() -> None:
    def sign_in(user: str, password: Annotated[str, Sensitive()]) -> None: ...

    schema = {
        "type": "object",
        "properties": {"user": {}, "password": {"minLength": 8}},
        "required": ["user", "password"],
    }
    payload = func_tool(sign_in, input_schema=schema).spec.payload
    assert payload.sensitive == func_tool(sign_in).spec.payload.sensitive != ()
    assert payload.public({"user": "ann", "password": "hunter22"}) == {
        "user": "ann",
        "password": {"sensitive": True},
    }


def of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"city": {}, **properties}, "required": ["city"], **more}


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "nothing"}, "input_schema cannot be used: "),
        (
            {"type": "string"},
            'input_schema must describe an object; write "type": "object" with "properties"',
        ),
        (of({"town": {}}), "input_schema has the property 'town', but the function has no such parameter"),
        (
            {"type": "object", "properties": {"city": {}}},
            "the parameter 'city' has no default, but input_schema does not require it; "
            'add it to "required", or give the parameter a default',
        ),
        (
            {"type": "object", "properties": {"days": {}}, "required": ["city"]},
            "input_schema has no property for the required parameter 'city'",
        ),
        (
            of({}, additionalProperties=True),
            "input_schema allows additional properties, but the function does not",
        ),
        (
            of({"days": {"type": "string"}}),
            "input_schema declares string for 'days', but the function takes integer",
        ),
        (of({"days": {"type": ["integer", "null"]}}), "declares null for 'days'"),
        (of({"days": {"anyOf": [{"type": "integer"}, {"type": "array"}]}}), "declares array for 'days'"),
        (of({"days": {"type": "number"}}), "declares number for 'days'"),
        (of({"unit": {"enum": ["c", "k"]}}), "allows \"k\" for 'unit', but the function rejects it: "),
        (of({"unit": {"const": 1}}), "allows 1 for 'unit', but the function rejects it: "),
        (of({"unit": {"default": "k"}}), "input_schema allows \"k\" for 'unit'"),
    ],
    ids=range(13),
)
def test_a_schema_that_does_not_agree_with_the_function_is_refused(
    schema: dict[str, Any], problem: str
) -> None:
    with pytest.raises(RegistrationError) as caught:
        func_tool(forecast, input_schema=schema)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2, lines
    assert problem in lines[1]


def test_a_default_that_is_no_json_is_refused() -> None:
    def near(city: str, by: object = len) -> None: ...

    with pytest.raises(RegistrationError, match="input_schema cannot be used: Unable to serialize"):
        func_tool(near, input_schema=of({}))


def test_all_that_does_not_agree_is_said_at_once() -> None:
    with pytest.raises(RegistrationError) as caught:
        func_tool(
            forecast, input_schema={"type": "object", "properties": {"town": {}, "days": {"type": "string"}}}
        )
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize(
    "schema",
    [
        of({"days": {"type": "integer"}, "unit": {"enum": ["c"]}}),
        of({"days": {"$ref": "#/$defs/days"}}, **{"$defs": {"days": {"type": "integer"}}}),
        of({"days": True}),
        of({}, additionalProperties=False, oneOf=[{"required": ["days"]}, {"not": {"required": ["days"]}}]),
    ],
    ids=range(4),
)
def test_a_schema_that_agrees_is_taken(schema: dict[str, Any]) -> None:
    assert func_tool(forecast, input_schema=schema).spec.payload.decode('{"city": "Ulm"}').city == "Ulm"


def weigh(grams: Any = 1, *, tare: Any = 0) -> list[Any]:
    """Weigh."""
    return [grams, tare]


WEIGH: dict[str, Any] = {"type": "object", "properties": {"grams": {"type": "integer"}}}


@pytest.mark.parametrize("arguments", ['{"grams": true}', '{"tare": false}', '{"grams": [true]}'])
def test_a_default_is_no_value_of_another_type_that_python_holds_equal(arguments: str) -> None:
    assert issues(func_tool(weigh, input_schema=WEIGH), arguments)


@pytest.mark.parametrize("arguments", ['{"grams": 1.0, "tare": 0}', '{"tare": 0.0}'])
def test_a_default_may_be_written_as_another_number(arguments: str) -> None:
    assert func_tool(weigh, input_schema=WEIGH).spec.payload.decode_null_as_absent(arguments)
