"""Texts that do harm where a page executes, fetches or follows what it shows; and tools that say them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from tests.contract.test_printable import HOSTILE as PRINTED
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    Await,
    CallTools,
    FinalResponse,
    PlanInput,
    PlannedCall,
    PlanResult,
    UserMessage,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.contract.json_value import Json
from toolgen.contract.tool_facts import Deprecation
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import BoundTool, ConfirmSpec, Runtime, ToolError, ToolOutcome
from toolgen.runtime.functions import ArtifactSpec

ELSEWHERE: Final = "https://other.example"
CORPUS: Final = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)></svg>",
    f"[a](javascript:alert(4)) ![b]({ELSEWHERE}/b.png) [c](<javascript:alert(5)>) <{ELSEWHERE}/auto>",
    f'<iframe src="{ELSEWHERE}/i" srcdoc="<script>alert(6)</script>"></iframe><embed src="{ELSEWHERE}/o">',
    f'<meta http-equiv=refresh content="0;url={ELSEWHERE}/m"><base href="{ELSEWHERE}/">',
    f'<link rel=stylesheet href="{ELSEWHERE}/l"><object data="{ELSEWHERE}/o"></object>',
    f"<style>*{{display:none}} body{{background:url({ELSEWHERE}/s)}} @import '{ELSEWHERE}/t';</style>",
    f'<form action="{ELSEWHERE}/f"><input autofocus onfocus=alert(7)></form>',
    '<form><button formaction="javascript:alert(8)">x</form>',
    '"><script>alert(9)</script>',
    "' onmouseover='alert(10)' autofocus onfocus='alert(11)' x='",
    "</textarea></title></style></script></pre><script>alert(12)</script>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(13)&gt;'>",
    "<svg><animate onbegin=alert(14) attributeName=x dur=1s></svg>",
    '<svg><use href="data:image/svg+xml,<svg onload=alert(15)>"/></svg>',
    "<a href='javascript:alert(16)'>a</a><a href='data:text/html,<script>alert(17)</script>'>b</a>",
    "[x]: javascript:alert(18)\n\n[x] [y](data:text/html;base64,PHNjcmlwdD4=) [z](vbscript:x)",
    "[w](JaVaScRiPt&colon;alert(19)) [v](\tjava\nscript:alert(19)) <javascript:alert(19)>",
    "${alert(20)} {{constructor.constructor('alert(21)')()}} <%= alert(22) %> #{alert(23)}",
    f"<details open ontoggle=alert(24)><video src={ELSEWHERE}/v onerror=alert(25)><audio src=x>",
    "`</code><script>alert(27)</script>`\n```html\n</pre><script>alert(28)</script>\n```",
    "__proto__",
    "constructor",
    "#/suspensions/../../?token=x",
    "x" * 20_000,
    *(text for name, text in PRINTED.items() if name != "surrogate"),
)
"""The last are those that terminals obey."""

SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script>'
    f'<image href="{ELSEWHERE}/x.png"/><foreignObject>'
    f'<iframe xmlns="http://www.w3.org/1999/xhtml" src="{ELSEWHERE}/i"/></foreignObject></svg>'
)


def artifacts_of(text: str) -> dict[str, Any]:
    """Return an artifact of each view that says a text wherever it takes one."""
    return {
        "line": {"unit": text, "rows": [{"at": f"2026-01-0{day}T00:00:00Z", text: day} for day in (1, 2, 3)]},
        "bar": {"rows": [{"name": text, text: 3}, {"name": "two", text: 4}]},
        "table": {"rows": [{text: text, "b": {text: [text]}}]},
        "markdown": {"text": text},
        "image": f"data:image/svg+xml;utf8,{SVG}{text}",
        "other": {text: [text, {text: text}]},
    }


VIEWS: Final = {
    "line": "chart.line",
    "bar": "chart.bar",
    "table": "table",
    "markdown": "markdown",
    "image": "image",
    "other": None,
}
SPECS: Final[dict[str, ArtifactSpec[Any]]] = {
    kind: ArtifactSpec(kind, TypeCodec(Any, "Data"), view=view)  # type: ignore[arg-type]  # each is a view
    for kind, view in VIEWS.items()
}


def say(number: int, text: str) -> BoundTool:
    """Return a tool that says a text in its listing, its arguments, its result and its artifacts."""

    async def function(text: str, choice: str = "plain") -> ToolOutcome[dict[str, Any]]:
        data = [SPECS[kind].of(value) for kind, value in artifacts_of(text).items()]
        result = {text: text, "rows": [{text: text, "nested": {text: [text]}}], "choice": choice}
        return ToolOutcome.of(result, artifacts=data, display=text)

    typed = Annotated[str, Field(title=text, description=text, examples=[text])]
    function.__annotations__ |= {"text": typed, "choice": Literal["plain", text]}
    made = func_tool(
        function,
        name=f"say_{number}",
        description=text,
        toolset="evil.corpus",
        title=text,
        tags=(text,),
        deprecated=Deprecation(reason=text),
        example=json.dumps({"text": text, "choice": text}),
    )
    return replace(made, spec=replace(made.spec, artifacts=SPECS))


async def ask(text: str) -> str:
    """Say it, once somebody has approved it."""
    return text


async def fail(text: str) -> str:
    """Fail with it."""
    raise ToolError(text)


class Speaker:
    """Says the text of its message in pieces, in a text, in calls, in a question and in its answer."""

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        text = self._text(plan_input)
        plan_input.reports.text(text)
        calls = (PlannedCall.of("fail", {"text": text}), PlannedCall.of("ask", {"text": text}))
        return CallTools(calls=calls, text=text)

    async def plan_resume(self, plan_input: PlanInput) -> PlanResult:
        text = self._text(plan_input)
        if plan_input.step == 1:
            field: dict[str, Json] = {"type": "string", "title": text[:200], "description": text[:200]}
            schema: dict[str, Json] = {"type": "object", "properties": {"word": field}, "required": ["word"]}
            return Await(kind="clarification", question=text, schema=schema)
        return FinalResponse(text=text)

    def _text(self, plan_input: PlanInput) -> str:
        said = next(one for one in reversed(plan_input.messages) if isinstance(one, UserMessage))
        return said.text


def hostile_runtime(texts: tuple[str, ...]) -> Runtime:
    """Return a runtime with a tool for each text, and an agent that repeats what it is told."""
    runtime = Runtime(
        engine=InProcessEngine(),
        events=Events(),
        capabilities=[ArtifactsCapability(MemoryArtifactStore())],
    )
    asks = function_toolset(
        "evil.asks",
        [
            func_tool(ask, toolset="evil.asks", confirm=ConfirmSpec(hint="{text}")),
            func_tool(fail, toolset="evil.asks"),
        ],
    )
    runtime.tools.register(
        function_toolset("evil.corpus", [say(number, text) for number, text in enumerate(texts)])
    )
    runtime.tools.register(asks)
    tools = tuple(AgentTool(id=f"evil.asks.{name}", name=name) for name in ("ask", "fail"))
    spec = AgentSpec(id="evil.speaker", description=texts[0], tools=tools)
    agents_of(runtime).register(AgentRegistration(spec=spec, planner=Speaker(), toolsets=(asks,)))
    return runtime
