"""Each way out of a call, with a sensitive value in each form that author code may quote: none shows it."""

from __future__ import annotations

import datetime as dt
import json
import logging
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, TypedDict

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from tests.selection import diagonal
from toolgen.calls.functions.tools import func_error, func_tool, function_toolset
from toolgen.contract.printable import printable
from toolgen.contract.secrets import HIDDEN
from toolgen.engines import InProcessEngine
from toolgen.events.document import as_json
from toolgen.events.hub import Events
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import CallMeta, Deny, Hook, Runtime, ToolContext, ToolError, ToolOutcome, ToolResult
from toolgen.runtime.functions import Sensitive
from toolgen.runtime.public_views import hiding_arguments, shown_document, shown_record, shown_run

from .canaries import Kept

TEXT: Final = "4111-OTTER\n'MIDDLE_HERON' \"é\" \\ 77777777777777777777 TAIL_IBEX"
BLOB: Final = bytes(range(1, 24))
NUMBER, AMOUNT = 90210777, Decimal("271828182845.18")
AT: Final = dt.datetime(1961, 4, 12, 6, 7, tzinfo=dt.UTC)
ARGUMENTS: Final = {
    "text": TEXT,
    "number": NUMBER,
    "amount": str(AMOUNT),
    "at": AT.isoformat().replace("+00:00", "Z"),
    "blob": b64encode(BLOB).decode(),
    "by": {"OTTER-KEY": "HERON-VALUE"},
}
CANARIES: Final = (
    *("OTTER", "HERON", "777777777777", "IBEX", str(NUMBER), "271828182845"),
    *("1961, 4, 12", "1961-04-12", BLOB.hex(), r"\x01\x02\x03", b64encode(BLOB).decode()),
)
FORMS: Final[dict[str, Callable[[Any], str]]] = {
    "text": lambda it: f"{it.text} of {it.by}",
    "line": lambda it: " and ".join(it.text.splitlines()),
    "json": lambda it: json.dumps(it.text),
    "json with its characters": lambda it: json.dumps(it.text, ensure_ascii=False),
    "json in json": lambda it: json.dumps(json.dumps({"of": it.text})),
    "repr": lambda it: repr([it.text, it.by]),
    "repr of repr": lambda it: repr(repr(it.text)),
    "log": lambda it: printable(it.text),
    "pieces": lambda it: f"{it.text[8:30]}… {it.text[-30:]}",
    "bytes": lambda it: f"{it.blob!r} {it.blob}",
    "hex": lambda it: it.blob.hex(),
    "base64": lambda it: b64encode(it.blob).decode(),
    "numbers": lambda it: f"{it.number} {it.amount} {it.amount!r} x={it.number}",
    "times": lambda it: f"{it.at} {it.at!r} {it.at.isoformat()}",
    "model": lambda it: f"{it.model_dump()} {it.model_dump_json()}",
    "exception": lambda it: str(_raised(lambda: int(it.text))),
}


class Values(BaseModel):
    """What the tool gets and quotes."""

    text: Annotated[str, Sensitive()]
    number: Annotated[int, Sensitive()]
    amount: Annotated[Decimal, Sensitive()]
    at: Annotated[dt.datetime, Sensitive()]
    blob: Annotated[bytes, Sensitive()]
    by: Annotated[dict[str, str], Sensitive()]


DECLINED = func_error("declined", "It is declined.", Values)


def _raised(work: Callable[[], object]) -> Exception | None:
    try:
        work()
    except Exception as error:
        return error
    return None


def _fails(error: Callable[[str, Values], Exception]) -> Callable[[Values, str, ToolContext], Any]:
    def does(values: Values, quote: str, ctx: ToolContext) -> Any:
        raise error(quote, values)

    return does


def _reports(values: Values, quote: str, ctx: ToolContext) -> str:
    ctx.progress(0.5, quote)
    ctx.stream(quote)
    return "done"


def _asks(outcome: Callable[[str], Any]) -> Callable[[Values, str, ToolContext], Any]:
    def does(values: Values, quote: str, ctx: ToolContext) -> Any:
        if ctx.answer is None:
            return outcome(quote)
        raise ValueError(quote)

    return does


WAYS: Final[dict[str, Callable[[Values, str, ToolContext], Any]]] = {
    "an error for the model": _fails(lambda quote, _: ToolError(quote, cause=ToolError(quote))),
    "an exception": _fails(lambda quote, _: ExceptionGroup(quote, [ValueError(quote)])),
    "a declared error": _fails(DECLINED.of),
    "progress": _reports,
    "a question": _asks(ToolOutcome.ask),
    "an approval": _asks(ToolOutcome.approval),
    "a credential": _asks(lambda quote: ToolOutcome.need_credential({"for": quote, quote: 1})),
    "a text for people": lambda values, quote, ctx: ToolOutcome.of("done", display=quote),
    "a result": lambda values, quote, ctx: quote,
    "hooks": lambda values, quote, ctx: "done",
    "a policy": lambda values, quote, ctx: "done",
}


class Quoting(Hook):
    """Fails with the arguments as JSON and the result as a text."""

    async def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
        raise ValueError(FORMS[json.loads(call.payload_json)["form"]](SPEC.payload.decode(call.payload_json)))


class Refusing:
    """A policy that says what it refuses."""

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        return Deny(message=f"{preview} {FORMS[call.payload.form](call.payload)}")


async def _keep(
    text: Annotated[str, Sensitive()],
    number: Annotated[int, Sensitive()],
    amount: Annotated[Decimal, Sensitive()],
    at: Annotated[dt.datetime, Sensitive()],
    blob: Annotated[bytes, Sensitive()],
    by: Annotated[dict[str, str], Sensitive()],
    way: str,
    form: str,
    ctx: ToolContext,
) -> str:
    """Quote the values."""
    values = Values(text=text, number=number, amount=amount, at=at, blob=blob, by=by)
    return WAYS[way](values, FORMS[form](values), ctx)  # type: ignore[no-any-return]  # as a tool of this kind may


TOOL = func_tool(_keep, name="keep", toolset="vault.values", errors=[DECLINED])
SPEC: Any = TOOL.spec


async def told(way: str, form: str) -> dict[str, str]:
    """Return all that is told of a call, by the way out: that the model gets a result of its own excepted."""
    records: list[str] = []
    exporter, provider, events = InMemorySpanExporter(), TracerProvider(), Events()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    handler, root = Kept(records), logging.getLogger("toolgen")
    root.addHandler(handler)
    runtime = Runtime(
        events=events,
        spans=ToolSpans(provider, shows_content=True),
        engine=InProcessEngine(),
        hooks=[Quoting()] if way == "hooks" else [],
        policy=Refusing() if way == "a policy" else None,
    )
    runtime.tools.register(function_toolset("vault.values", [TOOL]))
    arguments = {**ARGUMENTS, "way": way, "form": form}
    given: Any = {"available": True} if way == "a credential" else "yes"
    results: list[ToolResult] = []
    asked, records_of_waits, runs = [], [], []
    try:
        async with events.subscribe() as heard, runtime:
            results.append(await runtime.call("keep", arguments, CallMeta(session_id="s", tool_call_id="c")))
            while (waits := results[-1].suspension) is not None:
                asked += [
                    repr(results[-1]),
                    repr(waits),
                    waits.question,
                    repr(await runtime.suspensions.list()),
                ]
                for one in await runtime.suspensions.check():
                    record: Any = one.record
                    records_of_waits.append(shown_record(runtime, record))
                answer: Any = {"approved": True} if way == "an approval" else given
                results.append(await runtime.suspensions.answer(waits.token, answer))
            assert runtime.engine is not None
            for status in await runtime.engine.list_runs():
                log = [event async for _, event in runtime.engine.events(status.run_id, follow=False)]
                facts = {"input": status.input, "output": status.output, "error": status.error}
                runs.append(shown_run(runtime, {**facts, "events": log}))
        said = [as_json(event) async for event in heard]
    finally:
        root.removeHandler(handler)
    errors = [one for one in results if one.status in ("error", "denied")]
    with hiding_arguments(json.dumps(arguments).encode(), SPEC):
        command = [shown_document(one, SPEC) for one in results]
    return {
        "events": f"{said} {json.dumps(said)} {json.dumps(said, ensure_ascii=False)}",
        "logs": "\n".join(records),
        "spans": "\n".join(span.to_json() for span in exporter.get_finished_spans()),
        "questions": "\n".join(asked),
        "errors": "\n".join(f"{one.error} {one.error!r} {one.retry_hint}" for one in errors),
        "the model's errors": "\n".join(one.json.decode() for one in errors if b"declined" not in one.json),
        "the command line": "\n".join(map(bytes.decode, command)),
        "records of waits": f"{records_of_waits} {json.dumps(records_of_waits)}",
        "runs": f"{runs} {json.dumps(runs)}",
    }


@pytest.mark.parametrize(("form", "way"), diagonal(FORMS, WAYS))
async def test_no_way_out_shows_a_value_in_any_form(way: str, form: str) -> None:
    texts = await told(way, form)
    for exit_, text in texts.items():
        for canary in CANARIES:
            at = text.find(canary)
            assert at < 0, f"{exit_}: {text[max(0, at - 200) : at + 100]}"
    assert texts["events"], "nothing was told"
    assert HIDDEN in "\n".join(texts.values())


DAY: Final = dt.date(1961, 4, 12)
Day = Annotated[dt.date, Sensitive()]


@dataclass
class Born:
    """A day in a dataclass."""

    on: Day


class BornModel(BaseModel):
    """A day in a model."""

    on: Day


class BornKeys(TypedDict):
    """A day in a mapping with known keys."""

    on: Day


TYPES: Final[dict[str, tuple[Any, Any]]] = {
    "a dataclass": (Born, Born(DAY)),
    "a model": (BornModel, BornModel(on=DAY)),
    "known keys": (BornKeys, {"on": DAY}),
    "a list of dataclasses": (list[Born], [Born(DAY)]),
    "a list of models": (list[BornModel], [BornModel(on=DAY)]),
    "a tuple": (tuple[Born, ...], (Born(DAY),)),
    "a mapping": (dict[str, Born], {"ann": Born(DAY)}),
    "a union": (Born | None, Born(DAY)),
    "a value": (Day, DAY),
    "values": (list[Day], [DAY]),
    "a set": (set[Day], {DAY}),
}


class QuotingResult(Hook):
    """Fails with a typed result as Python writes it."""

    async def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
        raise ValueError(f"{result.result!r}")


def _typed_tool(type_: Any, value: Any, way: str) -> Any:
    error = func_error("odd", "It is odd.", type_)

    async def typed() -> Any:
        """Return or quote the value."""
        if way == "a declared error":
            raise error.of(f"{value!r}", value)
        return ToolOutcome.of(value, display=f"{value!r}") if way == "a text for people" else value

    typed.__annotations__["return"] = ToolOutcome[type_] if way == "a text for people" else type_
    return func_tool(typed, toolset="vault.typed", errors=[error])


@pytest.mark.parametrize(("way", "kind"), diagonal(["hooks", "a text for people", "a declared error"], TYPES))
async def test_no_way_out_shows_a_typed_value_as_python_writes_it(kind: str, way: str) -> None:
    records: list[str] = []
    handler, root, events = Kept(records), logging.getLogger("toolgen"), Events()
    root.addHandler(handler)
    runtime = Runtime(events=events, hooks=[QuotingResult()] if way == "hooks" else [])
    runtime.tools.register(function_toolset("vault.typed", [_typed_tool(*TYPES[kind], way)]))
    try:
        async with events.subscribe() as heard, runtime:
            result = await runtime.call("typed", {}, CallMeta(session_id="s"))
        text = f"{result.error} {records} {[as_json(event) async for event in heard]}"
    finally:
        root.removeHandler(handler)
    assert not [canary for canary in CANARIES if canary in text], text
    assert HIDDEN in text
