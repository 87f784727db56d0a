"""On which runtimes `toolgen test` runs the examples of a design, and that live data stays as it is."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.selection import first
from toolgen.cli import main

from .conftest import ProjectFolder
from .findings import findings_in
from .test_examples_command import ROOT, with_test_runtime

SHOP = """\
from toolgen.dsl import Annotations, Args, Attribute, Confirm, Design, Example, Int, Return, Service, Tool
from toolgen.dsl import LongRunning, Toolset

def counter(name, *clauses):
    return Tool(name, "Count.", Args(Attribute("by", Int, "How many.", default=1)),
        Return(Attribute("count", Int, "How many there are.", required=True)), *clauses)

reads = Annotations(read_only=True)
things = Toolset("things", "Count things.",
    counter("add", Example({}, result={"count": 1}), Example({"by": 2}, result={"count": 2})),
    counter("drop", Annotations(destructive=True), Example({})),
    counter("look", reads, Example({}, result={"count": 0})),
    counter("ask", reads, Confirm("May I?"), Example({})),
    counter("wait", reads, LongRunning(), Example({})),
)
design = Design("app", "A shop.", Service("shop", "Where things are.", things))
"""

EXECUTOR = """\
from app.gen.shop.toolsets import things


class Things(things.ThingsExecutor):
    def __init__(self, store):
        self.store = store

    async def add(self, payload, ctx):
        count = int(self.store.read_text()) + payload.by
        self.store.write_text(str(count))
        return things.AddResult(count=count)

    async def drop(self, payload, ctx):
        self.store.write_text("0")
        return things.DropResult(count=0)

    async def look(self, payload, ctx):
        return things.LookResult(count=int(self.store.read_text()))

    async def ask(self, payload, ctx):
        return things.AskResult(count=int(self.store.read_text()))

    async def wait(self, payload, ctx):
        return things.WaitResult(count=int(self.store.read_text()))
"""

MAIN = """\
import tempfile
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from app.gen.shop.toolsets import things
from executors.shop.things import Things
from toolgen.runtime import Ask, Runtime
from toolgen.engines import InProcessEngine

HERE = Path(__file__).parent


def serve(store, **options):
    runtime = Runtime(**{"engine": InProcessEngine(), **options})
    runtime.tools.register(things.registration(Things(store)))
    return runtime


def note(name):
    with (HERE / name).open("a") as file:
        file.write(".")


def live():
    note("live-runtimes")
    return serve(HERE / "live")


@contextmanager
def fresh():
    with tempfile.NamedTemporaryFile(dir=HERE) as file:
        store = Path(file.name)
        store.write_text("0")
        yield serve(store)
        note("closed")


@asynccontextmanager
async def fresh_later():
    with fresh() as runtime:
        yield runtime


async def awaited():
    store = HERE / "awaited"
    store.write_text("0")
    return serve(store)


always = serve(HERE / "nowhere")


def same():
    return always


@contextmanager
def untidy():
    yield serve(HERE / "nowhere")
    raise OSError("it does not close")


def undecorated():
    yield serve(HERE / "nowhere")


class Careful:
    async def decide(self, call, spec, preview):
        return Ask(question="Is that right?")


kept = InProcessEngine()


def guarded():
    return serve(HERE / "live", engine=kept, policy=Careful())
"""

WRITES = "not run: it may write: only tools with Annotations(read_only=True) are run"
NOT_RUN = f"""\
shop.things.add, example 1: {WRITES}
shop.things.add, example 2: {WRITES}
shop.things.drop, example 1: {WRITES}
shop.things.ask, example 1: not run: it waits for an answer
shop.things.wait, example 1: not run: it waits for an answer
"""
SETTING = (
    'set test_runtime = "module:function" in [tool.toolgen], a function that returns a Runtime made for tests'
)


@pytest.fixture
def shop(project: ProjectFolder) -> ProjectFolder:
    """A project over live data, with tools that change it and tools that read it."""
    project.write("app/design.py", SHOP)
    with_runtime(project, "live")
    project.run("gen")
    project.write("executors/shop/things.py", EXECUTOR)
    project.write("app/main.py", MAIN)
    project.write("app/live", "0")
    return project


def with_runtime(project: ProjectFolder, function: str) -> None:
    settings = '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\n'
    project.write("pyproject.toml", f'{settings}runtime = "app.main:{function}"\n')


def test_without_a_runtime_for_tests_only_tools_that_read_are_run(shop: ProjectFolder) -> None:
    done = shop.run("test")
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{NOT_RUN}6 examples: 1 passed, 5 not run\n  hint: {SETTING}\n"
    assert (shop.path / "app/live").read_text() == "0"
    shop.write("app/live", "7")
    done = shop.run("test")
    assert done.code == 1
    assert done.out.startswith("shop.things.look, example 1: {}\n--- expected\n")
    assert f"\n6 examples: 1 failed, 5 not run\n  hint: {SETTING}\n" in done.err
    assert (shop.path / "app/live").read_text() == "7"


def test_what_is_not_run_is_held_to_the_generated_code(shop: ProjectFolder) -> None:
    shop.write("app/design.py", SHOP.replace('"count"', '"number"'))
    done = shop.run("test", "--tool", "add")
    assert done.code == 2
    assert done.err.startswith("error: an example of shop.things.add does not fit the generated code: ")
    assert done.err.endswith("\n  hint: run: toolgen gen\n")
    shop.write("app/design.py", SHOP.replace('counter("add"', 'counter("more"'))
    done = shop.run("test")
    assert done.err == "error: the generated code has no tool 'shop.things.more'\n  hint: run: toolgen gen\n"
    shop.write("app/design.py", SHOP.replace('Toolset("things"', 'Toolset("goods"'))
    done = shop.run("test")
    assert done.err == "error: no generated code for shop.goods.add\n  hint: run: toolgen gen\n"
    init = next(shop.path.rglob(".toolgen.json")).with_name("__init__.py")
    init.write_text(init.read_text("utf-8").replace("(__name__, 2)", "(__name__, 1)"), "utf-8")
    assert "was generated with format 1, but this runtime supports format 2" in shop.run("test").err


def test_programs_get_a_warning_of_each_example_that_is_not_run(shop: ProjectFolder) -> None:
    done = shop.run("test", "--tool", "drop", "--format", "json")
    assert (done.code, done.err) == (0, f"1 example: 1 not run\n  hint: {SETTING}\n")
    (record,) = findings_in(done.out)
    assert (record["severity"], record["code"], record["suppressible"]) == (
        "warning",
        "example-not-run",
        True,
    )
    assert (record["file"], record["line"], record["hint"]) == ("app/design.py", 11, SETTING)
    assert record["message"] == f"shop.things.drop, example 1: {WRITES}"
    done = shop.run("test", "--tool", "drop", "--format", "github")
    place = "file=app/design.py,line=11,col=52,title=example-not-run"
    assert done.out.startswith(f"::warning {place}::shop.things.drop, example 1: {WRITES}%0Ahint: ")


def test_the_live_runtime_is_made_only_for_tools_that_read(shop: ProjectFolder) -> None:
    assert shop.run("test", "--tool", "add").code == 0
    assert not (shop.path / "app/live-runtimes").exists()
    assert shop.run("test", "--tool", "look").code == 0
    assert (shop.path / "app/live-runtimes").read_text() == "."


@pytest.mark.parametrize("function", first(["fresh", "fresh_later", "awaited"]))
def test_each_example_has_a_runtime_of_its_own(shop: ProjectFolder, function: str) -> None:
    """The second example of `add` expects what it would not get after the first."""
    with_test_runtime(shop, f"app.main:{function}")
    done = shop.run("test")
    assert (done.code, done.out, done.err) == (0, "", "6 examples passed\n")
    assert (shop.path / "app/live").read_text() == "0"
    assert not (shop.path / "app/live-runtimes").exists()
    if function != "awaited":
        assert (shop.path / "app/closed").read_text() == "." * 6


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("function", "message"),
    first(
        [
            (
                "app.main:same",
                "'app.main:same' returned the same runtime twice\n  hint: create a new runtime in each call",
            ),
            (
                "app.main:nothing",
                "does not define 'nothing'\n  hint: correct 'test_runtime' in [tool.toolgen]\n",
            ),
            ("app.mein:fresh", "the module 'app.mein' was not found in "),
            ("app.main:HERE", ", not a function\n  hint: correct 'test_runtime' in [tool.toolgen]\n"),
            ("builtins:list", "'builtins:list' returned [], not a Runtime\n  hint: "),
            (
                "app.main:serve",
                "'app.main:serve' failed:\n\nTypeError: serve() missing 1 required positional",
            ),
            ("app.main:untidy", "OSError: it does not close\n"),
            (
                "app.main:undecorated",
                "returned a generator, not a Runtime\n  hint: decorate it with @contextmanager",
            ),
        ],
        3,
    ),
)
def test_a_runtime_for_tests_that_is_of_no_use(shop: ProjectFolder, function: str, message: str) -> None:
    with_test_runtime(shop, function)
    shop.write("app/nowhere", "0")
    done = shop.run("test")
    assert done.code == 2
    assert message in done.err
    assert (shop.path / "app/live").read_text() == "0"


def test_a_question_that_a_policy_asks_about_live_data_is_taken_back(shop: ProjectFolder) -> None:
    with_runtime(shop, "guarded")
    done = shop.run("test", "--tool", "look")
    assert (done.code, "no result to compare; leave the result out of the example" in done.out) == (1, True)
    assert asyncio.run(import_module("app.main").guarded().suspensions.list()) == ()


def test_a_tool_that_an_agent_serves_is_not_run_on_live_data(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its run would be kept in the sessions of the project."""
    settings = (ROOT / "pyproject.toml").read_text("utf-8").replace("test_runtime = ", "# test_runtime = ")
    (tmp_path / "pyproject.toml").write_text(settings)
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    assert main(["test", "--tool", "diagnose", "--config", str(tmp_path / "pyproject.toml")]) == 0
    line = "assistant.checks.diagnose, example 1: not run: it starts a run of assistant.diagnostics\n"
    first, _, others = capsys.readouterr().err.partition("\n")
    assert (first.startswith("project: "), others.startswith(line)) == (True, True)
