"""What functions as tools declare: errors, and values that nobody who looks on may see."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from tests.catalog_entries import catalog_entry
from tests.runtime.tools import META
from toolgen.calls.functions.tools import func_error, func_tool, function_toolset
from toolgen.calls.specs import ErrorSpec
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd, ToolStart
from toolgen.runtime import Pending, RegistrationError, Runtime, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec, Sensitive
from toolgen.shapes.sensitive import MARKER, redacted, values_at


class Card(BaseModel):
    number: Annotated[str, Sensitive()]
    spare: list[Card] = []


class Receipt(BaseModel):
    id: str
    key: Annotated[str, Sensitive()] | None = None


class TooLittle(BaseModel):
    missing: int
    account: Annotated[str, Sensitive()]


TOO_LITTLE = func_error("too_little", "There is not enough money.", TooLittle)
CLOSED = func_error("closed", "The bank is closed.", is_retryable=True)


class Purse(BaseModel):
    default: Annotated[str, Sensitive()] = "HIDDEN-1"
    size: int = 3


def pay(pin: Annotated[str, Sensitive()], cards: list[Card], amount: int, by: dict[str, Card]) -> Receipt:
    """Pay by card."""
    if amount > 100:
        raise TOO_LITTLE.of(f"{pin} lacks money", TooLittle(missing=amount - 100, account="account-77"))
    if amount == 0:
        raise CLOSED.of("come back tomorrow")
    return Receipt(id="r1", key=f"key-of-{amount}")


PAY = func_tool(pay, toolset="bank.cards", errors=[TOO_LITTLE, CLOSED])
ARGUMENTS = {"pin": "pin-4711", "cards": [{"number": "card-0815"}], "amount": 5, "by": {}}


def test_places_are_those_of_the_marks() -> None:
    assert PAY.spec.payload.sensitive == (
        *("/pin", "/cards/*/number", "/cards/*/spare/*/~^2"),
        *("/by/*/number", "/by/*/spare/*/~^2"),
    )
    assert PAY.spec.result.sensitive == ("/key",)
    entry: Any = catalog_entry(PAY.spec)
    assert entry["result"]["sensitive"] == ["/key"]
    assert "x-toolgen" not in json.dumps(entry)
    assert "pin-4711" not in repr(PAY.spec.payload.decode(ARGUMENTS))


class ByCard(BaseModel):
    kind: Literal["card", "credit"]
    id: Annotated[str, Sensitive()]


class ByCash(BaseModel):
    kind: Literal["cash"] = "cash"
    id: str
    change: list[Plain] = []


class Plain(BaseModel):
    inner: list[Plain] = []


class Other(BaseModel):
    kind: str
    id: str


def give(
    by: Annotated[ByCard | ByCash, Field(discriminator="kind")],
    either: ByCard | ByCash | None,
    any: ByCard | Other,
) -> str:
    """Pay by one of them."""
    return by.id


def test_no_schema_shows_a_sensitive_default() -> None:
    def pay(
        pin: Annotated[str, Sensitive()] = "HIDDEN-2",
        key: Annotated[str, Sensitive()] | None = "HIDDEN-3",
        card: Card = Card(number="HIDDEN-4"),  # noqa: B008 - what is tested
        purse: Purse = Purse(),  # noqa: B008 - the same
        amount: int = 7,
    ) -> str:
        """Pay."""
        return pin

    schema: Any = func_tool(pay, toolset="bank.cards").spec.payload.schema
    assert "HIDDEN" not in json.dumps(schema)
    assert schema["properties"]["amount"]["default"] == 7
    assert schema["$defs"]["Purse"]["properties"].keys() == {"default", "size"}
    assert schema["$defs"]["Purse"]["properties"]["size"]["default"] == 3


def test_branches_are_told_apart_by_constant_properties() -> None:
    codec = func_tool(give, toolset="bank.cards").spec.payload
    assert codec.sensitive == ("/by/~!kind~!cash/id", "/either/~!kind~!cash/id", "/any/id")
    for kind, found in (("card", [1, 2, 3]), ("credit", [1, 2, 3]), ("cash", [3]), ("coins", [1, 2, 3])):
        value = {name: {"kind": kind, "id": at} for at, name in enumerate(("by", "either", "any"), 1)}
        assert list(values_at(value, codec.sensitive)) == found


def test_a_result_that_is_a_union_itself_has_its_places() -> None:
    def find(kind: str) -> ByCard | ByCash:
        """Find a way to pay."""
        return ByCash(id=kind)

    codec = func_tool(find, toolset="bank.cards").spec.result
    shown = [redacted({"kind": kind, "id": "7"}, codec.sensitive, "?")["id"] for kind in ("card", "cash")]
    assert shown == ["?", "7"]


async def call(amount: int) -> tuple[Any, str]:
    """Return the result of a call, and all that was told of it."""
    events = Events()
    runtime = Runtime(events=events)
    runtime.tools.register(function_toolset("bank.cards", [PAY]))
    async with events.subscribe() as told:
        result = await runtime.call("pay", {**ARGUMENTS, "amount": amount}, META)
    seen = [event async for event in told]
    assert {ToolStart, ToolEnd} <= {type(event) for event in seen}
    return result, "".join(map(repr, seen))


async def test_nobody_who_looks_on_sees_sensitive_values_of_a_function() -> None:
    result, told = await call(5)
    assert json.loads(result.json) == {"id": "r1", "key": "key-of-5"}
    for value in ("pin-4711", "card-0815", "key-of-5"):
        assert value not in told


async def test_a_function_raises_declared_errors() -> None:
    result, told = await call(150)
    assert json.loads(result.json)["code"] == "too_little"
    assert json.loads(result.json)["details"] == {"missing": 50, "account": "account-77"}
    assert TOO_LITTLE.get(result) == TooLittle(missing=50, account="account-77")
    assert "account-77" not in told
    assert "pin-4711" not in told
    closed, _ = await call(0)
    assert json.loads(closed.json) == {"error": "come back tomorrow", "code": "closed", "retryable": True}
    entry: Any = catalog_entry(PAY.spec)
    assert [(one["name"], one.get("sensitive")) for one in entry["errors"]] == [
        ("too_little", ["/account"]),
        ("closed", None),
    ]


async def work() -> str | Pending[None]:
    """Work for long."""
    return ToolOutcome.pending("job-1")


async def test_a_delivered_error_hides_what_its_details_have() -> None:
    later = func_tool(work, toolset="bank.work", errors=[TOO_LITTLE], long_running=LongRunningSpec())
    events = Events()
    runtime = Runtime(engine=InProcessEngine(), events=events)
    runtime.tools.register(function_toolset("bank.work", [later]))
    waiting = await runtime.call("work", {}, META)
    assert waiting.suspension is not None
    failure = TOO_LITTLE.of("account-77 is empty", TooLittle(missing=1, account="account-77"))
    async with events.subscribe() as told:
        result = await runtime.suspensions.answer(waiting.suspension.token, failure)
    assert TOO_LITTLE.get(result) == TooLittle(missing=1, account="account-77")
    (end,) = [event async for event in told if isinstance(event, ToolEnd)]
    assert end.error is not None
    assert (end.error.get("code"), end.error.get("details")) == (
        "too_little",
        {"missing": 1, "account": MARKER},
    )
    assert "account-77 is" not in repr(end)
    assert '{"account": "account-77"' not in json.dumps(end.result)


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        ([CLOSED, CLOSED], "the error 'closed' is declared twice"),
        ([func_error("denied", "Denied.")], "the error name 'denied' is reserved by the runtime"),
        ([func_error("Too late", "Late.")], "'Too late' is not an error name"),
    ],
)
def test_errors_have_names_of_their_own(errors: list[ErrorSpec[Any]], why: str) -> None:
    with pytest.raises(RegistrationError, match=why):
        func_tool(pay, errors=errors)


class Odd(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    value: object = None
    other: type = int


def test_details_have_a_schema() -> None:
    with pytest.raises(RegistrationError, match="the details of odd have no JSON Schema"):
        func_error("odd", "Odd.", Odd)
