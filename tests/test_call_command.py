"""`toolgen call`: one call through the runtime of a project, from the shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.selection import first
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore, SqliteArtifactStore
from toolgen.cli.call import _artifact, _stores_artifacts
from toolgen.runtime import Artifact, ArtifactRef, Runtime, ToolModel

from .conftest import PACKAGE, Done, ProjectFolder, in_a_process

EXECUTOR = """\
from app.gen.hall.toolsets import people
from toolgen.runtime import ToolContext, ToolError


class People(people.PeopleExecutor):
    async def greet(self, payload: people.GreetPayload, ctx: ToolContext) -> people.GreetResult:
        if payload.name == "Nobody":
            raise ToolError("there is nobody")
        return people.GreetResult(text=f"Good day, {payload.name} of {payload.session_id}! ☀")
"""

MAIN = """\
from app.gen.hall.toolsets import people
from executors.hall.people import People
from toolgen.runtime import Runtime


def runtime() -> Runtime:
    runtime = Runtime()
    runtime.tools.register(people.registration(People()))
    return runtime


async def later() -> Runtime:
    return runtime()


def broken() -> Runtime:
    raise ConnectionError("no database")


nothing = 3
"""


@pytest.fixture
def greeter(project: ProjectFolder) -> ProjectFolder:
    project.run("gen")
    project.write("executors/hall/people.py", EXECUTOR)
    project.write("app/main.py", MAIN)
    return project


def test_a_call_prints_exactly_what_the_model_sees(greeter: ProjectFolder) -> None:
    done = greeter.run("call", "hall.people.greet", '{"name": "Ada"}', "--session", "s-9")
    assert (done.code, done.out, done.err) == (0, '{"text":"Good day, Ada of s-9! ☀"}\n', "")


def test_the_json_may_come_from_stdin(greeter: ProjectFolder) -> None:
    assert greeter.run("call", "greet", "-", "--session", "s-9", piped='{"name": "Ada"}').code == 0


def test_a_call_without_arguments_needs_no_json(greeter: ProjectFolder) -> None:
    done = greeter.run("call", "greet", "--session", "s-9")
    assert (done.code, json.loads(done.out)["issues"][0]["path"]) == (1, "$.name")


def test_an_error_of_toolgen_has_the_place_of_the_call_that_it_left(greeter: ProjectFolder) -> None:
    main = MAIN.replace("People()", "People")
    greeter.write("app/main.py", main)
    line = next(number for number, text in enumerate(main.splitlines(), 1) if "registration(" in text)
    done = greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: app/main.py:{line}: toolset 'hall.people' cannot be registered:\n"
        "  executor People is a class, not an instance; pass an instance: People(…)\n"
    )
    hint = done.err.rpartition(": ")[2].replace("…", "").strip()
    greeter.write("app/main.py", main.replace("People))", f"{hint}))"))
    assert greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9").code == 0


def test_a_function_of_the_settings_that_wants_arguments_is_told_why(greeter: ProjectFolder) -> None:
    greeter.write("app/main.py", MAIN.replace("def runtime()", "def runtime(path: str)"))
    done = greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9")
    assert (
        "runtime() missing 1 required positional argument: 'path'\n  hint: toolgen calls it without"
        in done.err
    )


def test_what_the_project_prints_does_not_mix_with_the_result(greeter: ProjectFolder) -> None:
    greeter.write(
        "app/main.py", MAIN.replace("    runtime = Runtime()", "    print('made')\n    runtime = Runtime()")
    )
    greeter.write(
        "executors/hall/people.py",
        EXECUTOR.replace("        if ", "        print(payload.name)\n        if "),
    )
    done = greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9")
    assert (done.out, done.err) == ('{"text":"Good day, Ada of s-9! ☀"}\n', "made\nAda\n")


def test_an_executor_without_a_method_is_told_to_be_completed(greeter: ProjectFolder) -> None:
    greeter.write("executors/hall/people.py", EXECUTOR.replace("def greet(", "def gret("))
    done = greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9")
    assert done.code == 2
    assert done.err.endswith(
        "\n  hint: if it executes tools, toolgen gen adds a stub of each method that it lacks\n"
    )


@pytest.mark.parametrize(
    ("tool", "data", "error"),
    first(
        [
            ("greet", '{"name": "Nobody"}', "there is nobody"),
            ("greet", '{"name": "Ada", "session_id": "x"}', "the arguments of greet do not fit"),
            ("greet", "{", "the arguments of greet do not fit"),
            ("greet", "[" * 65 + "]" * 65, "the arguments of greet do not fit"),
            ("gret", "{}", "there is no tool 'gret'; similar names: greet"),
        ],
        2,
    ),
)
def test_a_failed_call_exits_with_1(greeter: ProjectFolder, tool: str, data: str, error: str) -> None:
    done = greeter.run("call", tool, data, "--session", "s-9")
    assert done.code == 1
    assert json.loads(done.out)["error"] == error


def test_a_fact_that_the_tool_needs_is_asked_for(greeter: ProjectFolder) -> None:
    done = greeter.run("call", "greet", '{"name": "Ada"}')
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: greet needs 'session_id', which no option sets\n  hint: add --session ID\n"


def steps(done: Done) -> list[tuple[str, str]]:
    """Return name and text of each line of a trace, whose times differ from run to run."""
    lines = [re.fullmatch(r"(\w+) +\d+\.\d{3} ms  (.+)", line) for line in done.err.splitlines()]
    return [(line[1], line[2]) for line in lines if line]


def test_a_trace_shows_every_step_and_no_injected_value(greeter: ProjectFolder) -> None:
    done = greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9", "--trace")
    assert (done.code, done.out) == (0, '{"text":"Good day, Ada of s-9! ☀"}\n')
    assert steps(done) == [
        ("lookup", "hall.people.greet"),
        ("decode", "GreetPayload(name='Ada')"),
        ("inject", "session_id"),
        ("execute", "GreetResult"),
        ("encode", "36 bytes"),
        ("check", "no bounds, no artifacts"),
        ("total", "ok"),
    ]
    assert "s-9" not in done.err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("tool", "data", "step", "error"),
    [
        ("gret", "{}", "lookup", "there is no tool 'gret'; similar names: greet"),
        ("greet", "{}", "decode", "the arguments of greet do not fit"),
        ("greet", '{"name": "Nobody"}', "execute", "there is nobody"),
    ],
)
def test_a_trace_ends_where_the_call_failed(
    greeter: ProjectFolder, tool: str, data: str, step: str, error: str
) -> None:
    done = greeter.run("call", tool, data, "--session", "s-9", "--trace")
    assert done.code == 1
    assert steps(done)[-2:] == [(step, f"failed: {error}"), ("total", "error")]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("runtime", "message"),
    first(
        [
            (
                "",
                "has no runtime, but these toolsets need code: hall.people (an executor)\n"
                "  hint: add runtime =",
            ),
            ("app.nowhere:runtime", "the module 'app.nowhere' was not found in "),
            ("app.main:other", "the module 'app.main' does not define 'other'\n  hint: correct 'runtime'"),
            (
                "app.main:brokn",
                "does not define 'brokn'\n  hint: did you mean 'broken'? correct 'runtime' in ",
            ),
            ("app.main:nothing", "'app.main:nothing' is 3, not a function\n  hint: "),
            ("builtins:list", "'builtins:list' returned [], not a Runtime\n  hint: "),
            ("app.main:broken", "'app.main:broken' failed:\n\nTraceback (most recent call last):\n"),
        ],
        3,
    ),
)
def test_a_runtime_of_no_use(greeter: ProjectFolder, runtime: str, message: str) -> None:
    line = f'runtime = "{runtime}"\n' if runtime else ""
    greeter.write("pyproject.toml", f'[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\n{line}')
    done = greeter.run("call", "greet", "{}")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert PACKAGE not in done.err


def test_the_runtime_may_be_made_by_a_coroutine(greeter: ProjectFolder) -> None:
    greeter.write(
        "pyproject.toml",
        '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\nruntime = "app.main:later"\n',
    )
    assert greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9").code == 0


STUB_LINE = "executors/hall/people.py:13: People.greet is not implemented (tool hall.people.greet)\n"


@pytest.fixture
def stub(greeter: ProjectFolder) -> ProjectFolder:
    """A project whose tool is not implemented yet."""
    (greeter.path / "executors/hall/people.py").unlink()
    greeter.run("gen")
    return greeter


def test_a_tool_that_is_not_implemented_is_named_by_the_line_of_its_stub(stub: ProjectFolder) -> None:
    done = stub.run("call", "greet", '{"name": "Ada"}', "--session", "s-9")
    assert (done.code, done.out, done.err) == (1, '{"error":"greet is not implemented"}\n', STUB_LINE)
    assert stub.run("stubs").out.splitlines()[-1] == STUB_LINE.rstrip()


@pytest.mark.exhaustive
def test_a_process_says_it_once(stub: ProjectFolder) -> None:
    """Python prints what nobody else logs; the command spares its reader that record."""
    command = ["-m", "toolgen", "call", "greet", '{"name": "Ada"}', "--session", "s-9"]
    done = in_a_process(stub.path, *command)
    assert done.returncode == 1
    assert (done.stdout, done.stderr) == ('{"error":"greet is not implemented"}\n', STUB_LINE)


def test_a_label_that_has_no_value_is_refused(greeter: ProjectFolder) -> None:
    done = greeter.run("call", "greet", '{"name": "Ada"}', "--session", "s-9", "--label", "tier")
    assert (done.code, done.out) == (2, "")
    assert "'tier' is not NAME=VALUE" in done.err


def test_a_call_loads_neither_the_design_language_nor_agents(greeter: ProjectFolder) -> None:
    code = (
        "import sys; from toolgen.cli.entry import main; code = main(sys.argv[1:]); "
        "rooms = {'.'.join(name.split('.')[:2]) for name in sys.modules}; "
        "print(sorted(rooms & {'toolgen.dsl', 'toolgen.agents'}), file=sys.stderr)"
    )
    done = in_a_process(greeter.path, "-c", code, "call", "greet", '{"name": "Ada"}', "--session", "s-9")
    assert (json.loads(done.stdout)["text"], done.stderr) == ("Good day, Ada of s-9! ☀", "[]\n")


def test_artifacts_in_memory_are_not_named_for_another_command(tmp_path: Path) -> None:
    uri = "artifact:session/s-9/plan?version=1"
    artifact = Artifact(kind="plan", data=ToolModel(), json=b"{}", ref=ArtifactRef(kind="plan", uri=uri))
    for store, line in [
        (MemoryArtifactStore(), "artifact: plan, 2 bytes"),
        (
            SqliteArtifactStore(tmp_path / "artifacts.db"),
            f"artifact: plan, 2 bytes, see: toolgen artifacts show '{uri}'",
        ),
    ]:
        runtime = Runtime(capabilities=[ArtifactsCapability(store)])
        assert _artifact(artifact, is_stored=_stores_artifacts(runtime)) == line
