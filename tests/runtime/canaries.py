"""Payments with canaries as their sensitive values, and a watch over all that is told of their calls."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.cases.sensitive.gen.bank.toolsets import payments
from toolgen.engines import InProcessEngine
from toolgen.events.document import as_json
from toolgen.events.hub import Events
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import Allow, Ask, CallMeta, Deny, Runtime, Suspended, ToolResult

META = CallMeta(run_id="r", session_id="s", turn_id="t", tool_call_id="c1")
NUMBER, PIN = "4111-OTTER\n'MIDDLE_HERON' \"é\" TAIL_IBEX", 90210777
SPARE, SHOP = "5222-LEMUR", "6333-TAPIR"
BORN, LIMIT = "1961-04-12T06:07:00Z", "271828182845.18"
IBAN, VOUCHER, CODE, DEEP = "DE77-WALRUS", "VOUCH-GECKO", "OPEN-MARTEN", "ES88-PUFFIN"
OTHER = "MACAW"
"""A part of what a test adds."""
ARGUMENTS: dict[str, Any] = {
    "amount": 100,
    "card": {"number": NUMBER, "holder": "Ann"},
    "pin": PIN,
    "born": BORN,
    "limit": LIMIT,
    "vouchers": {VOUCHER: VOUCHER},
    "others": [{"number": SPARE}],
    "by-shop": {"bakery": {"number": SHOP}, "none": None},
    "from": {"kind": "account", "iban": IBAN, "below": [{"iban": DEEP, "below": [{"iban": DEEP}]}]},
}
CANARIES = (
    *("OTTER", "HERON", "IBEX", "LEMUR", "TAPIR", "WALRUS", "GECKO", "MARTEN", "PUFFIN", OTHER),
    *(str(PIN), "1961-04-12", "1961, 4, 12", "271828182845"),
)
"""A part of each value, of which none is in another one, and which no time and no id holds by chance."""


class Payments(payments.PaymentsExecutor):
    """Does what a test says, with the payload and the context of any of the tools."""

    def __init__(self, does: Callable[[Any, Any], Any]) -> None:
        self._does = does

    async def pay(self, payload: Any, ctx: Any) -> Any:
        return await _awaited(self._does(payload, ctx))

    async def pay_much(self, payload: Any, ctx: Any) -> Any:
        return await _awaited(self._does(payload, ctx))

    async def transfer(self, payload: Any, ctx: Any) -> Any:
        return await _awaited(self._does(payload, ctx))

    def check_card(self, payload: Any, ctx: Any) -> Any:
        return self._does(payload, ctx)


async def _awaited(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


class Watch:
    """All that was told of the calls of a runtime, as text."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.events: list[str] = []
        self.records: list[str] = []

    @property
    def all(self) -> str:
        spans = [span.to_json() for span in self.exporter.get_finished_spans()]
        return "\n".join([*self.events, *self.records, *spans])

    def clean(self, *more: object) -> None:
        """Check that no canary stands in what was told, nor in what is given beside it."""
        assert self.events
        text = "\n".join([self.all, *map(str, more), *map(repr, more)])
        for canary in CANARIES:
            at = text.find(canary)
            assert at < 0, text[max(0, at - 300) : at + 100]


class Kept(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(logging.Formatter("%(message)s").format(record))
        self._records.append(repr(vars(record)))
        if record.exc_info and record.exc_info[1]:
            self._records.append("".join(traceback.format_exception(record.exc_info[1])))


@asynccontextmanager
async def watched(
    does: Callable[[Any, Any], Any] = lambda payload, ctx: None, **host: Any
) -> AsyncIterator[tuple[Runtime, Watch]]:
    watch, events = Watch(), Events()
    handler, root = Kept(watch.records), logging.getLogger("toolgen")
    root.addHandler(handler)
    try:
        made = Runtime(
            events=events,
            spans=ToolSpans(watch.provider, shows_content=True),
            engine=InProcessEngine(),
            **host,
        )
        made.tools.register(payments.registration(Payments(does)))
        async with events.subscribe() as told, made:
            yield made, watch
        watch.events += [json.dumps(as_json(event), ensure_ascii=False) async for event in told]
        watch.events += [json.dumps(json.loads(one)) for one in watch.events]
    finally:
        root.removeHandler(handler)


async def seen(
    tool: str, does: Callable[[Any, Any], Any], arguments: Any = None, **host: Any
) -> tuple[ToolResult, Watch]:
    """Return the result of a call, of which nothing that was told shows a canary."""
    async with watched(does, **host) as (runtime, watch):
        result = await runtime.call(tool, ARGUMENTS if arguments is None else arguments, META)
    watch.clean(repr(result), result.display)
    return result, watch


def receipt(payload: Any, ctx: Any) -> payments.PayResult:
    return payments.PayResult(receipt="r1", code=CODE)


MISPLACED_VALUE = "4111-ZEBRA-9999"
"""Nothing else of the arguments is like it, so that it is hidden by its place or not at all."""
MISPLACED: list[dict[str, Any]] = [
    {"card": MISPLACED_VALUE},
    {"card": [MISPLACED_VALUE]},
    {"card": {"numbr": MISPLACED_VALUE}},
    {"crad": {"number": MISPLACED_VALUE}},
    {"others": MISPLACED_VALUE},
    {"others": {"number": MISPLACED_VALUE}},
    {"from": {"kind": "account", "iban": "DE77", "below": {"iban": MISPLACED_VALUE}}},
]
CARD_AS_KEY = "4111-YAK-1111"


def quoted(payload: Any) -> str:
    values = (payload.card.number, payload.pin, payload.born, payload.limit, payload.vouchers)
    return f"{' '.join(map(str, values))} {payload.from_.iban if payload.from_ else None}"


def raised(error: Callable[[Any], Exception]) -> Callable[[Any, Any], Any]:
    def does(payload: Any, ctx: Any) -> Any:
        raise error(payload)

    return does


class Deciding:
    """A policy that quotes what it decides on."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        text = f"{preview} {quoted(call.payload)}"
        match self._kind:
            case "raise":
                raise ValueError(text)
            case "deny":
                return Deny(message=text)
            case "ask":
                return Ask(question=text)
        return Allow()


def asked(result: ToolResult) -> Suspended:
    assert result.suspension is not None, result.json
    return result.suspension
