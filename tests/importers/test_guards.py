"""Guards of an author when the operation or the argument that they were written for changes in the source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.importers.changing_sources import DESIGN, LIST, PAY, SHOP, Shop, api, flat, operation, tool_list
from tests.importers.changing_sources import shop as shop
from tests.selection import first

UPPER = "get", "/Pay", operation("Pay")
TAKER = "get", "/Pay", operation("pay")
MOVED = "post", "/pay", operation("pay_2", ("query", "amount"))
AMOUNT = 'd.Attribute("amount", d.String, None'
SENSITIVE = f"{AMOUNT})", f"{AMOUNT}, sensitive=True)"


@pytest.mark.parametrize("order", first([[TAKER, MOVED], [UPPER, PAY], [PAY, UPPER]], 2))
def test_guards_stay_with_an_operation_whose_name_another_one_takes(shop: Shop, order: list[Any]) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"), d.Timeout("30s"))'), SENSITIVE)
    shop.publish(api(*order, LIST))
    is_taken = order[0] is TAKER
    assert shop.run("--check").code == 1
    done = shop.run()
    assert done.code == is_taken
    calls = {}
    for tool in re.findall(
        r'd\.Tool\(\s*"(\w+)",(.*?)(?=\n    d\.Tool|\n\)|, d\.Tool)', shop.design, re.DOTALL
    ):
        calls[tool[0]] = flat(tool[1])
    assert 'http.POST("/pay")' in shop.design
    post = "pay_2" if is_taken else "pay"
    assert 'd.Confirm("Pay?"), d.Timeout("30s")' in calls[post]
    assert flat(shop.design).count("sensitive=True") == 1
    if is_taken:
        assert 'd.Confirm("Pay?"), d.Timeout("30s")' in calls["pay"]
        assert "tool:pay: the tool sent 'POST https://shop.example/v1/pay' and now sends 'GET" in done.err
        shop.stays_open("tool:pay")
        shop.edit(('d.BindTo("pay"), d.Confirm("Pay?"), d.Timeout("30s")', 'd.BindTo("pay")'))
        shop.resolve("tool:pay")
        assert shop.design.count('d.Confirm("Pay?")') == 1
    shop.built()


@pytest.mark.exhaustive
def test_guards_come_back_until_the_author_resolves(shop: Shop) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"))'))
    shop.publish(api(TAKER, MOVED, LIST))
    assert shop.run().code == 1
    text = shop.design
    shop.edit(('d.BindTo("pay"), d.Confirm("Pay?")', 'd.BindTo("pay")'))
    assert shop.run("--check").code == 1
    assert shop.run().code == 1
    assert shop.design == text


@pytest.mark.parametrize("is_remembered", [True, False])
@pytest.mark.parametrize("names", first([["Pay", "pay"], ["pay", "Pay"]]))
def test_guards_stay_with_a_tool_of_a_server_whose_name_another_one_takes(
    shop: Shop, names: list[str], is_remembered: bool
) -> None:
    shop.imported(tool_list(("pay", ["card"])))
    shop.edit(
        ('d.Attribute("card", d.String, None)', 'd.Attribute("card", d.String, None, sensitive=True)'),
        ('"Do pay.",', '"Do pay.", d.Confirm("Pay?"),'),
    )
    shop.publish(tool_list(*((name, ["card"]) for name in names)))
    if not is_remembered:
        shop.forget_names()
    is_taken = names[0] == "Pay" and not is_remembered
    assert shop.run().code == is_taken
    tools = re.split(r"d\.Tool\(\s*(?=\")", shop.design)[1:]
    held = {("pay" if 'name="Pay"' not in tool and '"Do pay."' in tool else "Pay"): tool for tool in tools}
    assert "Confirm" in held["pay"]
    assert "sensitive=True" in held["pay"]
    assert ("Confirm" in held["Pay"], "sensitive=True" in held["Pay"]) == (is_taken, is_taken)
    if is_taken:
        shop.stays_open("tool:pay", "argument:pay.card")
        shop.resolve("tool:pay", "argument:pay.card")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("verb", "path", "name"),
    [("delete", "/pay", "pay"), ("post", "/v2/pay", "pay"), ("post", "/pay/{id}", "pay")],
)
def test_an_operation_that_moves_loses_what_loosened_it(shop: Shop, verb: str, path: str, name: str) -> None:
    shop.imported(api(PAY, LIST))
    loose = (
        "d.Annotations(read_only=True, open_world=True), d.Bookkeeping(), "
        'd.Confirm("Pay?", when={"amount": "9"})'
    )
    shop.edit(('d.BindTo("pay"))', f'd.BindTo("pay"), {loose})'))
    moved = operation(name, ("query", "amount"), *([("path", "id")] if "{" in path else []))
    shop.publish(api((verb, path, moved), LIST))
    assert shop.run().code == 1
    text = flat(shop.design)
    assert "read_only" not in text
    assert "d.Bookkeeping()" not in text
    assert "when=" not in text
    assert "open_world=True" in text
    assert 'd.Confirm("Pay?")' in text
    shop.stays_open("tool:pay")
    shop.built()


@pytest.mark.exhaustive
def test_an_operation_that_gets_another_id_and_path_hands_on_its_guards(shop: Shop) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay {amount}?"))'), SENSITIVE)
    charge = "post", "/v2/charges", operation("charge", ("query", "amount"))
    shop.publish(api(charge, LIST))
    assert shop.run().code == 1
    assert 'd.Tool("charge", "Do charge.", d.BindTo("charge"), d.Confirm())' in flat(shop.design)
    assert flat(shop.design).count("sensitive=True") == 2
    assert "tool:charge" in shop.lock["open"]
    assert "argument:charge.amount" in shop.lock["open"]
    shop.stays_open(*shop.lock["open"])
    shop.resolve(*shop.lock["open"])


@pytest.mark.exhaustive
def test_an_operation_in_another_place_of_the_document_keeps_its_guards(shop: Shop) -> None:
    def document(tag: str, server: str = "") -> dict[str, Any]:
        more: dict[str, Any] = {"servers": [{"url": server}]} if server else {}
        return api(LIST, ("post", "/pay", operation("pay", ("query", "amount"), tags=[tag], **more)))

    edits = [
        ('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"))'),
        (
            'd.Attribute("amount", d.String, None)',
            'd.Attribute("amount", d.String, None, max_length=9, sensitive=True)',
        ),
    ]
    for number, moved in enumerate([document("b"), document("a", "https://pay.example")]):
        shop.imported(document("a"), *(["--force"] if number else []))
        shop.edit(*edits)
        shop.publish(moved)
        assert shop.run().code == 1
        text = flat(shop.design)
        assert text.count('d.Confirm("Pay?")') == text.count('d.Tool("pay"')
        assert text.count("sensitive=True") == text.count('d.Attribute("amount"')
        assert text.count("max_length=9") == text.count('d.Attribute("amount"')
        if number:
            assert "server:shop_2" in shop.lock["open"]
        shop.stays_open(*shop.lock["open"])


@pytest.mark.exhaustive
def test_operations_in_another_order_change_nothing(shop: Shop) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"))'))
    before = shop.design
    shop.publish(api(LIST, PAY))
    assert shop.run().code == 0
    assert sorted(shop.design.splitlines()) == sorted(before.splitlines())


@pytest.mark.exhaustive
def test_an_operation_with_another_id_is_the_same(shop: Shop) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"), d.Annotations(read_only=True))'))
    shop.publish(api(("post", "/pay", operation("charge", ("query", "amount"))), LIST))
    assert shop.run().code == 0
    assert 'd.Confirm("Pay?"), d.Annotations(read_only=True)' in flat(shop.design)
    assert shop.lock["targets"]["tool:charge"] == f"POST {SHOP}/pay"


@pytest.mark.parametrize("is_api", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_a_sensitive_argument_with_another_name_stays_sensitive(shop: Shop, is_api: bool) -> None:
    def document(*arguments: str) -> dict[str, Any]:
        if not is_api:
            return tool_list(("pay", arguments))
        return api(("post", "/pay", operation("pay", *(("query", each) for each in arguments))))

    shop.imported(document("card", "note"))
    shop.edit(('d.Attribute("card", d.String, None)', 'd.Attribute("card", d.String, None, sensitive=True)'))
    shop.publish(document("card_number", "note"))
    done = shop.run()
    assert done.code == 1
    assert "argument:pay.card_number" in done.err
    assert 'd.Attribute("card_number", d.String, None, sensitive=True)' in flat(shop.design)
    assert 'd.Attribute("note", d.String, None)' in flat(shop.design)
    places = list(shop.lock["open"])
    assert "argument:pay.card" in places
    shop.stays_open(*places)
    shop.resolve(*places)


@pytest.mark.exhaustive
def test_what_is_gone_is_reported_until_it_is_resolved(shop: Shop) -> None:
    shop.imported(tool_list("find", "pay"))
    shop.edit(('"Do pay."', '"Pay, after you have asked."'))
    shop.publish(tool_list("find"))
    assert shop.run().code == 1
    done = shop.stays_open("shop/pay")
    assert "the source no longer has Tool 'pay' of 'shop'" in done.err
    text = shop.design
    Path(DESIGN).write_text(
        re.sub(r' *d\.Tool\(\s*"pay".*?\),\n|, d\.Tool\("pay".*?\)(?=\)|,)', "", text), "utf-8"
    )
    assert "after you" not in shop.design
    assert shop.run().code == 1
    shop.resolve("shop/pay")


def test_arguments_keep_their_names_in_another_order(shop: Shop) -> None:
    places = ("query", "tenant"), ("header", "tenant")
    shop.imported(api(("get", "/list", operation("list", *places))))
    shop.edit(
        ('d.Attribute("tenant", d.String, None)', 'd.Attribute("tenant", d.String, None, sensitive=True)')
    )
    shop.publish(api(("get", "/list", operation("list", *reversed(places)))))
    assert (shop.run().code, shop.lock["open"]) == (0, {})
    assert 'd.Attribute("tenant", d.String, None, sensitive=True)' in flat(shop.design)
    assert 'd.Attribute("tenant_header", d.String, None' in flat(shop.design)


@pytest.mark.exhaustive
def test_arguments_that_exchange_their_names(shop: Shop) -> None:
    shop.imported(api(("get", "/list", operation("list", ("query", "tenant"), ("header", "tenant")))))
    shop.edit(
        ('d.Attribute("tenant", d.String, None)', 'd.Attribute("tenant", d.String, None, sensitive=True)')
    )
    shop.publish(api(("get", "/list", operation("list", ("header", "tenant"), ("query", "tenant")))))
    shop.forget_names()
    assert shop.run().code == 1
    assert re.findall(r'd\.Attribute\("(\w+)", [^()]*sensitive=True', flat(shop.design)) == [
        "tenant",
        "tenant_query",
    ]
    assert "argument:list.tenant" in shop.lock["open"]
    shop.stays_open(*shop.lock["open"])


@pytest.mark.exhaustive
def test_an_injected_argument_with_another_name_stays_injected(shop: Shop) -> None:
    shop.imported(api(("get", "/list", operation("list", ("query", "session_id"), ("query", "note")))))
    shop.edit(('d.BindTo("list")', 'd.BindTo("list"), d.Inject("session_id")'))
    shop.publish(api(("get", "/list", operation("list", ("query", "sessionId"), ("query", "note")))))
    assert shop.run().code == 1
    assert 'd.Inject("session_id", "sessionId")' in flat(shop.design)
    shop.edit(('d.Inject("session_id", "sessionId")', 'd.Inject("session_id")'))
    assert shop.run().code == 1
    assert 'd.Inject("session_id", "sessionId")' in flat(shop.design)
    shop.stays_open("argument:list.session_id", "argument:list.sessionId")


@pytest.mark.exhaustive
def test_a_confirmation_that_the_author_removed_comes_back_with_another_target(shop: Shop) -> None:
    def document(*names: str) -> dict[str, Any]:
        confirmed = [
            {
                "id": f"shop.shop.{name}",
                "name": name,
                "service": "shop",
                "toolset": "shop.shop",
                "description": f"Do {name}.",
                "payload": {"name": "P", "schema": {"type": "object", "properties": {}}},
                "confirmation": {"title": "Sure?"},
            }
            for name in names
        ]
        return {"tools": confirmed}

    shop.publish(document("pay"))
    assert shop.run("catalog", "shop.json", "--allow-losses").code == 0
    assert "d.Confirm()" in shop.design
    Path(DESIGN).write_text(re.sub(r",\s*d\.Confirm\(\)", "", shop.design), "utf-8")
    assert (shop.run("--allow-losses").code, "d.Confirm()" in shop.design) == (0, False)
    shop.publish(document("Pay"))
    assert shop.run("--allow-losses").code == 1
    assert "d.Confirm()" in shop.design
    shop.built()


def _paid_by(schema: dict[str, Any], **schemas: Any) -> dict[str, Any]:
    """Return an API with a type whose number is secret and whose amount is limited."""
    card = {"type": "object", "properties": {"number": {"type": "string"}, "amount": {"type": "integer"}}}
    content = {"application/json": {"schema": schema}}
    pay = operation("pay", requestBody={"required": True, "content": content})
    answer = {"200": {"description": "ok", "content": {"application/json": {"schema": _ref("Card")}}}}
    value = api(("post", "/pay", pay), ("get", "/card", {**operation("card"), "responses": answer}))
    value["components"]["schemas"] = {
        "Card": card,
        "Other": card,
        "Holder": _object(card=_ref("Card")),
    } | schemas
    return value


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_FIELDS = {"number": {"type": "string"}, "amount": {"type": "integer"}}
_SEALED = _object(**_FIELDS, id={"type": "string", "readOnly": True})
_UNLIKE = _object(pan={"type": "string"})


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("before", "after", "schemas", "place"),
    [
        (_ref("Card"), _ref("Other"), {}, "attribute:Other.number"),
        (_ref("Card"), _ref("Card"), {"Card": _SEALED}, "attribute:CardInput.number"),
        (_ref("Card"), _ref("Unlike"), {"Unlike": _UNLIKE}, "argument:pay.body.number"),
        (_ref("Card"), _object(**_FIELDS), {}, "attribute:PayPayloadBody.number"),
        (_ref("Holder"), _ref("Holder"), {"Holder": _object(card=_ref("Other"))}, "attribute:Other.number"),
        (_ref("Holder"), _ref("Other"), {}, "attribute:Other.number"),
        (_object(card=_ref("Card")), _object(card=_ref("Other")), {}, "attribute:Other.number"),
    ],
)
@pytest.mark.parametrize("guard", first(["sensitive=True", "min_length=3"]))
def test_guards_of_a_type_follow_a_request_that_gets_another_type(
    shop: Shop, before: Any, after: Any, schemas: dict[str, Any], place: str, guard: str
) -> None:
    shop.imported(_paid_by(before))
    text = shop.design
    start = text.index('"number", d.String, None', text.index('d.Type(\n    "Card"'))
    end = start + len('"number", d.String, None')
    Path(DESIGN).write_text(f"{text[:end]}, {guard}{text[end:]}", "utf-8")
    assert shop.run().code == 0
    shop.publish(_paid_by(after, **schemas))
    assert shop.run("--check").code == 1
    assert shop.run().code == 1
    if guard == "sensitive=True":
        assert shop.design.count(guard) == (2 if place.startswith("attribute:") else 1)
    shop.built()
    shop.stays_open(place)
    shop.resolve(place)


@pytest.mark.exhaustive
def test_a_conflict_that_is_open_follows_an_operation_that_gets_another_name(shop: Shop) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"))'))
    shop.publish(api(("post", "/x", operation("pay")), LIST))
    assert shop.run().code == 1
    text = re.sub(r',\s*d\.Confirm\("Pay\?"\)', "", shop.design)
    assert "d.Confirm(" not in text
    Path(DESIGN).write_text(text, "utf-8")
    shop.publish(api(("post", "/x", operation("charge")), ("post", "/y", operation("pay")), LIST))
    assert shop.run().code == 1
    design = flat(shop.design)
    assert 'd.BindTo("charge"), d.Confirm("Pay?"))' in design
    assert 'd.BindTo("pay"), d.Confirm("Pay?"))' in design
    shop.stays_open("tool:charge", "tool:pay")
    shop.publish(api(("post", "/x", operation("lend")), LIST))
    assert shop.run().code == 1
    assert 'd.BindTo("lend"), d.Confirm("Pay?"))' in flat(shop.design)
    assert "tool:lend" in shop.lock["open"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_resolved", [False, True])
def test_an_operation_that_could_not_be_read_keeps_its_guards_under_another_name(
    shop: Shop, is_resolved: bool
) -> None:
    shop.imported(api(PAY, LIST))
    shop.edit(('d.BindTo("pay"))', 'd.BindTo("pay"), d.Confirm("Pay?"))'))
    shop.edit(SENSITIVE)
    assert shop.run().code == 0
    broken = operation("pay", ("query", "amount")) | {"parameters": [{"$ref": "#/nowhere"}]}
    shop.publish(api(LIST) if is_resolved else api(("post", "/pay", broken), LIST))
    assert shop.run().code == 1
    if is_resolved:
        shop.resolve(*shop.lock["open"])
    shop.publish(api(("post", "/pay", operation("charge", ("query", "amount"))), LIST))
    assert shop.run().code == 1
    assert 'd.BindTo("charge"), d.Confirm("Pay?"))' in flat(shop.design)
    assert shop.design.count("sensitive=True") == 2
    shop.stays_open("argument:charge.amount", "tool:charge")
    shop.resolve("argument:charge.amount", "tool:charge")


@pytest.mark.exhaustive
def test_a_tool_that_could_not_be_read_keeps_its_guards_under_another_name(shop: Shop) -> None:
    shop.imported(tool_list("pay", "list"))
    shop.edit(('d.Tool("pay", "Do pay."', 'd.Tool("pay", "Do pay.", d.Confirm("Pay?")'))
    document = tool_list("pay", "list")
    document["tools"][0]["inputSchema"] = {"type": 5}
    shop.publish(document)
    assert shop.run().code == 1
    shop.publish(tool_list("Pay", "pay", "list"))
    shop.forget_names()
    assert shop.run().code == 1
    assert 'd.Meta(name="pay"), d.Confirm("Pay?"), )' in flat(shop.design)
    assert "tool:pay_2" in shop.lock["open"]
