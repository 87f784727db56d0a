"""Mistakes of the first hours with toolgen: each message names the place and what to write."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from toolgen.agents import CallTools, PlannedCall
from toolgen.agents.planner.plan_faults import PlannerError, checked_plan, misused_record
from toolgen.dsl import Agent, Design, Instructions, Service, build

from .conftest import ProjectFolder

DESIGN = """\
from toolgen.dsl import *

things = Toolset(
    "things",
    "Things of the house.",
    Tool(
        "read",
        "Read one.",
        Args(Attribute("id", Int, "Which one.", required=True)),
        Return(Attribute("text", String, "The text.", required=True)),
        # clauses
    ),
)
design = Design("house", "A house.", Service("hall", "The hall.", Agent("clerk", "Answers.", Use(things))))
"""
EXECUTOR = """\
from app.gen.hall.toolsets import things


class Things:
    async def read(self, payload, ctx):
        return things.ReadResult(text="one")
"""
MAIN = """\
from app.executor import Things
from app.gen.hall.agents import clerk
from app.gen.hall.toolsets import things
from toolgen.agents import CallTools, FinalResponse, PlannedCall
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime


class Planner:
    async def plan_start(self, given):
        return FinalResponse(text="done")

    async def plan_resume(self, given):
        return FinalResponse(text="done")


def runtime():
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(things.registration(Things()))
    return runtime
"""
READ = ("call", "read", '{"id": 1}')
ROOMS = """\
from toolgen.dsl import *

ROOM = Attribute("room", String, "Which room.", required=True)
NUMBER = Attribute("number", String, "Number of the booking.", required=True)
design = Design(
    "office",
    "An office.",
    Service(
        "rooms",
        "Rooms.",
        Functions("app.office"),
        Method("book", "Book a room.", Payload(ROOM), Result(NUMBER)),
        Toolset("desk", "The desk.", Tool("book", "Book.", Args(ROOM), Return(NUMBER), BindTo("book"))),
    ),
)
"""
BOOK = ("call", "book", '{"room": "a"}')


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A project with a mistake, the command that meets it, and what it prints for it."""

    command: tuple[str, ...]
    says: str
    files: dict[str, str] = field(default_factory=dict)
    is_generated: bool = True
    """Whether `toolgen gen` runs before."""


def clause(text: str) -> dict[str, str]:
    return {"app/design.py": DESIGN.replace("# clauses", f"{text},")}


MISTAKES = {
    "no module of functions": Mistake(
        command=("gen",),
        files={"app/design.py": ROOMS},
        is_generated=False,
        says="app/design.py:11:9: warning: the method 'book' calls app.office:book, but the module "
        "'app.office' was not found [function-missing]\n        Functions(\"app.office\"),\n"
        "        ^^^^^^^^^^^^^^^^^^^^^^^\n  hint: install it, or put it below the folder of pyproject.toml\n",
    ),
    "a misspelt function": Mistake(
        command=("gen",),
        files={"app/design.py": ROOMS, "app/office.py": "def bok(room): ...\n"},
        is_generated=False,
        says="the module 'app.office' has no 'book' [function-missing]\n        Functions(\"app.office\"),\n"
        "        ^^^^^^^^^^^^^^^^^^^^^^^\n  hint: did you mean 'bok'?\n",
    ),
    "a misspelt parameter of a function": Mistake(
        command=BOOK,
        files={"app/design.py": ROOMS, "app/office.py": "def book(rom): ...\n"},
        says="app/office.py:1: app.office:book does not take 'room', which the payload has; add the "
        "parameter\n",
    ),
    "a wrong result of a function": Mistake(
        command=BOOK,
        files={"app/design.py": ROOMS, "app/office.py": "def book(room):\n    return {'no': 3}\n"},
        says="app/office.py:1: book returned a result that does not fit: "
        "$.number is missing (tool rooms.desk.book)\n",
    ),
    "a span in days": Mistake(
        command=("gen",),
        files=clause('Timeout("3d")'),
        is_generated=False,
        says="Timeout of tool 'read' is '3d', which is in days, but the units are ms, s, m and h",
    ),
    "a misspelt capability": Mistake(
        command=("gen",),
        files=clause('Needs("artefacts")'),
        is_generated=False,
        says="app/design.py:11:9: warning: Needs of tool 'read' names 'artefacts', which is close to ",
    ),
    "a misspelt capability at a call": Mistake(
        command=READ,
        files=clause('Needs("artefacts")'),
        says="'read' needs the capability 'artefacts'; did you mean Needs('artifacts') in the design?\n",
    ),
    "a capability that is not there": Mistake(
        command=READ,
        files=clause('Needs("state")'),
        says="pass it to the runtime: Runtime(capabilities=[StateCapability(…)])\n",
    ),
    "a misspelt rule": Mistake(
        command=("lint",),
        files=clause('Suppress("many-argumnets", "The form has as many.")'),
        says="its Suppress has an unknown rule: 'many-argumnets' [unused-suppress]\n"
        "  hint: did you mean 'many-arguments'? toolgen lint --rules lists them\n",
    ),
    "a set among the values of an Enum": Mistake(
        command=("gen",),
        files={"app/design.py": DESIGN.replace("Int,", 'Enum("Id", "Ids.", {"a", "b"}),')},
        is_generated=False,
        says="  hint: write the items as separate values: a set has no order\n",
    ),
    "a set of values in a condition": Mistake(
        command=("gen",),
        files=clause('Confirm("Sure?", when={"id": {1}})'),
        is_generated=False,
        says="  hint: write several values as a tuple, not as a set\n",
    ),
    "a planner that returns a text": Mistake(
        command=("run", "hall.clerk", "hello"),
        files={
            "app/main.py": MAIN.replace('FinalResponse(text="done")', '"done"').replace(
                "runtime.tools.register(things.registration(Things()))",
                "clerk.register(runtime, planner=Planner(), things=Things())",
            )
        },
        says="the planner app.main.Planner of agent 'hall.clerk' returned str; it must return CallTools,",
    ),
    "a misspelt method": Mistake(
        command=READ,
        files={"app/executor.py": EXECUTOR.replace("def read", "def raed")},
        says="app/executor.py:5: Things.read is missing; did you mean 'raed'? rename it to 'read'\n",
    ),
    "a toolset that is not registered": Mistake(
        command=READ,
        files={"app/main.py": MAIN.replace("    runtime.tools.register(", "    print(")},
        says="  hint: the design has 'hall.things.read', but the runtime of 'app.main:runtime' does not "
        "register its toolset; add there: runtime.tools.register(things.registration(…))\n",
    ),
    "a forgotten executor of an agent": Mistake(
        command=READ,
        files={
            "app/main.py": MAIN.replace(
                "runtime.tools.register(things.registration(Things()))", "clerk.register(runtime)"
            )
        },
        says="  hint: write clerk.register(runtime, things=…, planner=…, instructions=…, dynamic=…)\n",
    ),
    "a misspelt option of the runtime": Mistake(
        command=READ,
        files={"app/main.py": MAIN.replace("engine=", "engin=")},
        says="  hint: did you mean 'engine'?\n",
    ),
    "arguments without quotes": Mistake(
        command=("call", "read", "{id: 1}"),
        says="  hint: pass the arguments as one JSON object, with single quotes around "
        'it for the shell: toolgen call read \'{"id": "…"}\'\n',
    ),
    "arguments as Python writes them": Mistake(
        command=("call", "read", "{'id': 1}"),
        says='for the shell: toolgen call read \'{"id": "…"}\'\n',
    ),
    "a page in the place of an API": Mistake(
        command=("import", "openapi", "page.json"),
        files={"page.json": "<!DOCTYPE html>\n<html></html>"},
        says="error: page.json is HTML, not JSON or YAML\n  hint: it is a web page; save the JSON itself, "
        "which the page may link as 'raw' or 'download'\n",
    ),
    "a page in the place of YAML": Mistake(
        command=("import", "openapi", "page.yaml"),
        files={"page.yaml": "\n<html lang=en>"},
        says="error: page.yaml is HTML, not JSON or YAML\n",
    ),
    "a page in the place of a schema": Mistake(
        command=("gen",),
        files={
            "app/design.py": DESIGN.replace("Int,", 'JSONSchema("page.json"),'),
            "app/page.json": "<!doctype html>",
        },
        is_generated=False,
        says="  hint: it is a web page; save the JSON itself",
    ),
    "a server that is not installed": Mistake(
        command=("import", "mcp", "--stdio", "no-such-server", "--out", "lock.json"),
        says="cannot be started: the program or folder 'no-such-server' does not exist\n"
        "  hint: install it, or correct the command; write the full path of a program that is not in PATH\n",
    ),
    "a call of a planner without its names": Mistake(
        command=("run", "hall.clerk", "hello"),
        files={
            "app/main.py": MAIN.replace(
                'FinalResponse(text="done")', 'CallTools(calls=(PlannedCall("read", {"id": 1}),))', 1
            ).replace(
                "runtime.tools.register(things.registration(Things()))",
                "clerk.register(runtime, planner=Planner(), things=Things())",
            )
        },
        says="the planner failed: the planner app.main.Planner of agent 'hall.clerk' failed: "
        "PlannedCall.__init__() takes 1 positional argument but 3 were given; write "
        'PlannedCall.of("name", {"argument": …})\n',
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_names_the_place_and_the_fix(
    project: ProjectFolder, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    mistake = MISTAKES[name]
    files = {"app/design.py": DESIGN, "app/executor.py": EXECUTOR, "app/main.py": MAIN, **mistake.files}
    for file, text in files.items():
        project.write(file, text)
    if "app.office" in files["app/design.py"]:
        project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\n')
    if mistake.is_generated:
        assert project.run("gen").code == 0
    done = project.run(*mistake.command)
    assert mistake.says in done.out + done.err
    assert "Traceback" not in done.out + caplog.text


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("{user name}, {user:}", ["{user name}", "{user:}"]),
        (
            "{usr:name} {user-name} {user:first name?} {user: name}",
            ["{usr:name}", "{user-name}", "{user:first name?}"],
        ),
        ('{user:name} {name?} {{user name}} {"a": 1} {} {name: text} {1} { x }', []),
    ],
)
def test_braces_that_are_almost_a_value_of_the_state_are_reported(text: str, reported: list[str]) -> None:
    agent = Agent("clerk", "Answers.", Instructions(text))
    found = build(Design("house", "A house.", Service("hall", "The hall.", agent))).diagnostics
    assert [(each.code, each.severity) for each in found] == [("no-state-key", "warning")] * len(reported)
    for text_, each in zip(reported, found, strict=True):
        assert f"contain {text_!r}, which is not a state key" in each.message


def test_arguments_of_a_planned_call_are_a_text() -> None:
    plan = CallTools(calls=(PlannedCall(name="read", arguments={"id": 1}),))  # type: ignore[arg-type]  # the mistake
    message = (
        r"Desk returned CallTools; the arguments of its call of 'read' have the type dict; "
        r"write PlannedCall\.of\("
    )
    with pytest.raises(PlannerError, match=message):
        checked_plan(plan, "Desk")


def test_only_a_wrong_construction_of_a_plan_is_not_tried_again() -> None:
    error = misused_record(
        TypeError("CallTools.__init__() got an unexpected keyword argument 'call'"), "Desk"
    )
    assert str(error).endswith("argument 'call'; write CallTools(calls=…, text=…, native=…, provider=…)")
    assert misused_record(TypeError("unsupported operand"), "Desk") is None
    assert misused_record(ValueError("CallTools.__init__() raised"), "Desk") is None


@pytest.mark.parametrize("module", ["sys", "os.path", "json.decoder", "email.mime.text"])
def test_functions_of_installed_modules_are_found(project: ProjectFolder, module: str) -> None:
    target = {
        "sys": "intern",
        "os.path": "join",
        "json.decoder": "JSONDecoder",
        "email.mime.text": "MIMEText",
    }
    design = ROOMS.replace("app.office", module).replace(
        '"book", "Book a room.", P', f'"{target[module]}", "B.", P'
    )
    project.write("app/design.py", design.replace('BindTo("book")', f'BindTo("{target[module]}")'))
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\n')
    assert "function-missing" not in project.run("gen").err
