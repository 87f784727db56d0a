"""A union with a name is one set of classes, whoever uses it; one without a name belongs to its place."""

from __future__ import annotations

import pytest

from tests.cases.unions.gen.art.toolsets.shapes import DRAW, DrawPayload, DrawPayloadMainCircle
from tests.cases.unions.gen.types import Drawing, PaintLayered, PaintPlain
from toolgen.codegen import generate
from toolgen.contract.findings import Finding
from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    Design,
    Method,
    Object,
    OneOf,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    build,
)
from toolgen.runtime import ToolValidationError

CARD = Type("Card", "A card.", Attribute("number", String, "Its number.", required=True))


def design(*attributes: Attribute) -> Design:
    tool = Tool("pay", "Pay.", Args(*attributes), Return(*attributes))
    return Design("shop", "A shop.", Service("till", "Pays.", Toolset("paying", "Pay.", tool)))


def diagnostics(*attributes: Attribute) -> list[Finding]:
    return [one for one in build(design(*attributes)).diagnostics if not one.is_warning]


def test_a_value_of_a_named_union_goes_from_one_place_to_another() -> None:
    paint = PaintLayered(under=PaintPlain(color="red"))
    payload = DrawPayload(main=DrawPayloadMainCircle(radius=1), paint=paint)
    assert Drawing(layers={}, ground=payload.paint, paints={"a": paint}).ground == paint
    assert DRAW.payload.decode(DRAW.payload.encode(payload)) == payload


def test_issues_inside_a_named_union_stand_at_their_place() -> None:
    document = (
        '{"main": {"shape": "circle", "radius": 1}, "spare": {"kind": "layered", "under": {"kind": "x"}}}'
    )
    with pytest.raises(ToolValidationError) as raised:
        DRAW.payload.decode(document)
    (issue,) = raised.value.issues
    assert (issue.path, issue.allowed) == ("$.spare.under.kind", ("plain", "layered"))


def test_a_union_without_a_name_makes_classes_for_each_place() -> None:
    paid = OneOf("by", card=CARD, cash=Object())
    checked = build(design(Attribute("paid", paid, "Now."), Attribute("tip", paid, "Later."))).design
    assert checked is not None
    types = generate(checked, module="shop")["till/toolsets/paying/types.py"]
    assert types.count("Cash(ToolModel)") == 4


def test_a_union_with_a_name_makes_its_classes_once() -> None:
    paid = OneOf("by", "Paid", card=CARD, cash=Object())
    attributes = Attribute("paid", paid, "Now."), Attribute("tips", ArrayOf("Paid"), "Later.")
    checked = build(design(*attributes)).design
    assert checked is not None
    texts = generate(checked, module="shop")
    assert [path for path, text in texts.items() if "class PaidCash(" in text] == ["types.py"]
    assert sum(text.count("class PaidC") for text in texts.values()) == 2


def test_a_bound_tool_hands_a_named_union_on_as_it_is() -> None:
    paid = Attribute("paid", OneOf("by", "Paid", card=CARD, cash=Object()), "How.", required=True)
    shop = Design(
        "shop",
        "A shop.",
        Service("Bank", "Moves money.", Method("pay", "Pay.", Payload(paid), Result(paid))),
        Service("till", "Pays.", Toolset("paying", "Pay.", Tool("pay", "Pay.", BindTo("Bank", "pay")))),
    )
    checked = build(shop).design
    assert checked is not None
    transforms = generate(checked, module="shop")["till/toolsets/paying/transforms.py"]
    assert "match" not in transforms
    assert "paid=payload.paid" in transforms


def test_two_unions_of_one_name_are_refused() -> None:
    one, two = (OneOf("by", "Paid", card=CARD) for _ in range(2))
    (found,) = diagnostics(Attribute("paid", one, "Now."), Attribute("tip", two, "Later."))
    assert found.code == "duplicate-name"


def test_a_union_is_not_called_like_a_type() -> None:
    (found,) = diagnostics(Attribute("paid", OneOf("by", "Card", card=CARD, cash=Object()), "Now."))
    assert found.code == "duplicate-name"


def test_the_name_of_a_union_is_an_identifier() -> None:
    (found,) = diagnostics(Attribute("paid", OneOf("by", "paid by", card=CARD, cash=Object()), "Now."))
    assert found.code == "bad-name"


def test_a_class_of_a_branch_is_not_called_like_another_one() -> None:
    clash = Type("PaidCash", "Takes the name.", Attribute("a", String, "A."))
    paid = OneOf("by", "Paid", card=CARD, cash=Object())
    (found,) = diagnostics(Attribute("paid", paid, "Now."), Attribute("clash", clash, "It."))
    assert found.code == "identifier-clash"


def test_a_bad_named_union_is_reported_once() -> None:
    empty = OneOf("by", "Paid")
    (found,) = diagnostics(Attribute("paid", empty, "Now."), Attribute("tip", "Paid", "Later."))
    assert found.code == "bad-union"
