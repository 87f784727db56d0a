"""What `breaking` says of lenient results: it promises their readers nothing."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from toolgen.catalog import parse_catalog
from toolgen.checks.compatibility import compare, contract_of
from toolgen.codegen import generate
from toolgen.dsl import Attribute, BindTo, Design, Method, Result, Service, String, Tool, Toolset, build
from toolgen.dsl.http import GET, HTTP, Server

OPEN, MORE = (("open",), ("open", "sent"))


def contract(answers: Literal["strict", "lenient"], *fields: Attribute) -> Any:
    service = Service(
        "Shop",
        "A shop.",
        Server("https://shop.example"),
        Method("get_order", "Read an order.", Result(*fields), HTTP(GET("/order"))),
        Toolset("orders", "Orders.", Tool("get_order", "Read an order.", BindTo("get_order"))),
        answers=answers,
    )
    evaluation = build(Design("shop", "A shop.", service))
    assert evaluation.design is not None, [each.message for each in evaluation.diagnostics]
    texts = generate(evaluation.design, module="d")
    return contract_of(parse_catalog(json.loads(texts["tool_schemas.json"])))


def state(values: tuple[str, ...], *, required: bool = True) -> Attribute:
    return Attribute("state", String, "State.", enum=values, required=required)


STRICT, LENIENT = contract("strict", state(OPEN)), contract("lenient", state(OPEN))


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        (STRICT, LENIENT, {"result-widened": "R"}),
        (LENIENT, STRICT, {}),
        (STRICT, contract("strict", state(MORE)), {"result-widened": "R"}),
        (LENIENT, contract("lenient", state(MORE)), {"result-widened": ""}),
        (LENIENT, contract("lenient", state(OPEN, required=False)), {"result-optional": "S"}),
        (
            LENIENT,
            contract("lenient", Attribute("other", String, "Other.")),
            {"result-field-removed": "S", "result-field-added": ""},
        ),
    ],
    ids=["lenient now", "strict now", "strict", "value", "optional", "field"],
)
def test_readers_of_a_lenient_result_were_promised_nothing(
    before: Any, after: Any, broken: dict[str, str]
) -> None:
    changes = {each.code: each.breaks for each in compare(before, after)}
    assert {code: changes.get(code) for code in broken} == broken
    assert not [code for code, breaks in changes.items() if "R" in breaks and code not in broken]


def test_the_change_says_what_a_result_may_be() -> None:
    (change,) = [each for each in compare(STRICT, LENIENT) if each.code == "result-widened"]
    assert change.sentence() == (
        "Shop.orders.get_order: the result can be any value: an answer that does not match is passed on as "
        "received. Breaks consumers."
    )
