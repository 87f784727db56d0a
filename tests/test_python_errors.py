"""Mistakes in a design that Python finds: said with their place and their fix, to people and to programs."""

from __future__ import annotations

import pytest

from .conftest import DESIGN, ProjectFolder
from .findings import findings_in
from .selection import first

CASES = {
    # What is planted, the line and the column where it is, what Python says, what to do.
    "a misspelt name": (
        DESIGN.replace("        Args(", "        Argz("),
        (11, 9),
        "NameError: name 'Argz' is not defined",
        "write Args",
    ),
    "a forgotten import": (
        DESIGN.replace(", Toolset", ""),
        (5, 10),
        "NameError: name 'Toolset' is not defined",
        "write d.Toolset, and add: from toolgen import dsl as d",
    ),
    "a misspelt name that is not imported": (
        DESIGN.replace('Inject("session_id")', 'Injekt("session_id")').replace("Inject, ", ""),
        (16, 9),
        "NameError: name 'Injekt' is not defined",
        "write d.Inject, and add: from toolgen import dsl as d",
    ),
    "a name of nothing": (
        DESIGN.replace("max_length=40", "max_length=LONGEST_PERSON"),
        (12, 83),
        "NameError: name 'LONGEST_PERSON' is not defined",
        "define it above, or import it",
    ),
    "a misspelt import": (
        DESIGN.replace("import Args", "import Argss"),
        (3, 1),
        "ImportError: cannot import name 'Argss' from 'toolgen.dsl' (",
        "write d.Args, and add: from toolgen import dsl as d",
    ),
    "a misspelt clause of the language": (
        DESIGN.replace("from toolgen.dsl", "from toolgen import dsl as d\nfrom toolgen.dsl").replace(
            "        Args(", "        d.Argz("
        ),
        (12, 9),
        "AttributeError: module 'toolgen.dsl' has no attribute 'Argz'",
        "write Args",
    ),
    "a clause of HTTP in the language": (
        DESIGN.replace("from toolgen.dsl", "from toolgen import dsl as d\nfrom toolgen.dsl").replace(
            "        Args(", "        d.GET("
        ),
        (12, 9),
        "AttributeError: module 'toolgen.dsl' has no attribute 'GET'",
        "write http.GET, and add: from toolgen.dsl import http",
    ),
    "a clause of HTTP by a misspelt name": (
        DESIGN.replace("from toolgen.dsl", "from toolgen.dsl import http\nfrom toolgen.dsl").replace(
            "        Args(", "        http.Servr("
        ),
        (12, 9),
        "AttributeError: module 'toolgen.dsl.http' has no attribute 'Servr'",
        "write http.Server",
    ),
    "the language without its import": (
        DESIGN.replace("        Args(", "        d.Args("),
        (11, 9),
        "NameError: name 'd' is not defined",
        "add the import: from toolgen import dsl as d",
    ),
    "a misspelt keyword": (
        DESIGN.replace("required=True, max", "requierd=True, max"),
        (12, 13),
        "TypeError: Attribute.__init__() got an unexpected keyword argument 'requierd'",
        "did you mean 'required'?",
    ),
    "a keyword of another clause": (
        DESIGN.replace('Inject("session_id"),', 'Inject("session_id"), read_only=True,'),
        (8, 5),
        "TypeError: Tool.__init__() got an unexpected keyword argument 'read_only'",
        "write d.Annotations(read_only=…) in d.Tool(…)",
    ),
    "a clause as a keyword": (
        DESIGN.replace('Inject("session_id"),', 'Inject("session_id"), confirm=True,'),
        (8, 5),
        "TypeError: Tool.__init__() got an unexpected keyword argument 'confirm'",
        "write d.Confirm(…) in d.Tool(…)",
    ),
    "a keyword of a library for models of data": (
        DESIGN.replace("max_length=40", "regex='^A'"),
        (12, 13),
        "TypeError: Attribute.__init__() got an unexpected keyword argument 'regex'",
        "did you mean 'pattern'?",
    ),
    "a limit of a library for models of data": (
        DESIGN.replace("max_length=40", "ge=1"),
        (12, 13),
        "TypeError: Attribute.__init__() got an unexpected keyword argument 'ge'",
        "did you mean 'minimum'?",
    ),
    "an optional attribute in words": (
        DESIGN.replace("max_length=40", "optional=True"),
        (12, 13),
        "TypeError: Attribute.__init__() got an unexpected keyword argument 'optional'",
        "remove it: an attribute without required=True may be absent",
    ),
    "a union with None": (
        DESIGN.replace('"name", String,', '"name", String | None,'),
        (12, 31),
        "TypeError: unsupported operand type(s) for |: 'StringClause' and 'NoneType'",
        "write d.Nullable(…) if null is a value; without required=True an attribute is optional",
    ),
    "a name in small letters": (
        DESIGN.replace('Inject("session_id")', 'inject("session_id")'),
        (16, 9),
        "NameError: name 'inject' is not defined",
        "write Inject",
    ),
    "a type of other languages": (
        DESIGN.replace('"name", String,', '"name", Text,'),
        (12, 31),
        "NameError: name 'Text' is not defined",
        "write String",
    ),
    "a missing argument": (
        DESIGN.replace(', "Whom to greet."', ""),
        (12, 13),
        "TypeError: Attribute.__init__() missing 1 required positional argument: 'description'",
        "write d.Attribute(name, type, description, required=…, default=…, enum=…, …)",
    ),
    "a missing comma between texts": (
        DESIGN.replace('String, "Whom', '"Name" "Whom'),
        (12, 13),
        "TypeError: Attribute.__init__() missing 1 required positional argument: 'description'",
        """a comma may be missing between "Name" and "Whom to greet.\"""",
    ),
    "one argument too many": (
        DESIGN.replace('"Whom to greet."', '"Whom to greet.", True'),
        (12, 13),
        "TypeError: Attribute.__init__() takes 4 positional arguments but 5 ",
        "write d.Attribute(name, type, description, required=…, default=…, enum=…, …)",
    ),
    "a keyword of JSON Schema": (
        DESIGN.replace("max_length=40", "maxItems=40"),
        (12, 13),
        "TypeError: Attribute.__init__() got an unexpected keyword argument 'maxItems'",
        "did you mean 'max_length'?",
    ),
    "a value that is written as its type": (
        DESIGN.replace("String, Tool,", "Decimal, String, Tool,").replace(
            "max_length=40", 'maximum=Decimal("0.01")'
        ),
        (12, 80),
        "TypeError: SteppedClause.__call__() takes 1 positional argument but 2 were given",
        'write decimal.Decimal("…") or datetime.timedelta(…) for a value; the type takes only keywords, '
        "such as minimum=…",
    ),
    "an argument of a type that has none": (
        DESIGN.replace("String, Tool,", "Boolean, String, Tool,").replace(
            '"name", String,', '"name", Boolean(minimum=1),'
        ),
        (12, 31),
        "TypeError: ScalarClause.__call__() got an unexpected keyword argument 'minimum'",
        "'minimum' belongs to Attribute, Date, DateTime, Decimal, Duration, Float, Int; write the type "
        "without arguments",
    ),
    "brackets behind a value": (
        DESIGN.replace('meet.", people', 'meet.", people()'),
        (19, 86),
        "TypeError: 'Toolset' object is not callable",
        "write people, without parentheses: it is a value, not a function",
    ),
    "a missing comma before a bracket": (
        DESIGN.replace(
            'required=True)),\n        Inject("session_id"),', "required=True))\n        (Inject,),"
        ),
        (15, 9),
        "TypeError: 'Return' object is not callable",
        "a comma may be missing before the '('",
    ),
    "a missing comma that Python sees": (
        DESIGN.replace('"Greet a person.",', '"Greet a person."'),
        (10, 9),
        "SyntaxError: invalid syntax. Perhaps you forgot a comma?",
        "a comma may be missing at the end of line 10",
    ),
    "a missing comma after a clause of several lines": (
        DESIGN.replace("        ),\n        Return(", "        )\n        Return("),
        (11, 9),
        "SyntaxError: invalid syntax. Perhaps you forgot a comma?",
        "a comma may be missing at the end of line 14",
    ),
    "a missing comma on one line": (
        DESIGN.replace('Attribute("text", String', 'Attribute("text" String'),
        (15, 26),
        "SyntaxError: invalid syntax. Perhaps you forgot a comma?",
        "",
    ),
    "a name that is defined further down": (
        DESIGN.replace("Return(", "Return(Greeting, ") + "Greeting = String\n",
        (15, 16),
        "NameError: name 'Greeting' is not defined",
        "define it above; a Type of this design may also be named in quotes: 'Greeting'",
    ),
    "a union without its tag": (
        DESIGN.replace("Inject,", "Inject, OneOf,").replace(' String, "Whom', ' OneOf(stop=String), "Whom'),
        (12, 31),
        "TypeError: OneOf.__init__() missing 1 required positional argument: 'tag'",
        "write d.OneOf(tag, name=…, …)",
    ),
    "a module that is called": (
        f"from toolgen.dsl import http\n\nhttp(1)\n{DESIGN}",
        (3, 1),
        "TypeError: 'module' object is not callable",
        "call a name of the module, such as http.HTTP(…)",
    ),
    "the part about HTTP from the wrong module": (
        f"from toolgen import dsl as d, http\n{DESIGN}",
        (1, 1),
        "ImportError: cannot import name 'http' from 'toolgen' (",
        "write from toolgen.dsl import http",
    ),
    "a bracket too many": (f"{DESIGN})\n", (20, 1), "SyntaxError: unmatched ')'", ""),
    "a package that is not there": (
        f"import nowhere\n{DESIGN}",
        (1, 1),
        "ModuleNotFoundError: No module named 'nowhere'",
        "correct the name, or install the module where toolgen runs, in ",
    ),
    "a mistake of no word": (
        DESIGN.replace("max_length=40", "max_length=1 // 0"),
        (12, 83),
        "ZeroDivisionError: integer division or modulo by zero",
        "",
    ),
    "an exit": (f"import sys\nsys.exit(3)\n{DESIGN}", (2, 1), "SystemExit: 3", ""),
}


Planted = tuple[str, tuple[int, int], str, str]


@pytest.fixture(params=first(map(pytest.param, CASES.values()), 8), ids=list(CASES))
def planted(request: pytest.FixtureRequest, project: ProjectFolder) -> Planted:
    case: Planted = request.param
    project.write("app/design.py", case[0])
    return case


@pytest.mark.exhaustive
def test_programs_get_one_record(project: ProjectFolder, planted: Planted) -> None:
    _, (line, column), message, hint = planted
    before = project.files()
    done = project.run("gen", "--format", "json")
    assert done.code == 2
    (record,) = findings_in(done.out)
    assert (record["severity"], record["code"]) == ("error", "python-error")
    assert record["message"].startswith(message)
    assert (record["file"], record["line"], record["column"]) == ("app/design.py", line, column)
    assert (record["end"]["line"], record["end"]["column"]) >= (line, column)
    assert record["hint"].startswith(hint)
    assert bool(record["hint"]) == bool(hint)
    assert project.files() == before


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ["a misspelt name", "a missing comma that Python sees", "an exit"])
@pytest.mark.parametrize("command", [("gen", "--check"), ("gen", "--diff"), ("stubs",), ("test",)])
def test_every_command_gives_the_record(project: ProjectFolder, command: tuple[str, ...], case: str) -> None:
    project.write("app/design.py", CASES[case][0])
    before = project.files()
    done = project.run(*command, "--format", "json")
    assert (done.code, done.out) == (2, project.run("gen", "--format", "json").out)
    assert project.files() == before


def test_github_gets_one_command(project: ProjectFolder, planted: Planted) -> None:
    _, (line, column), message, _ = planted
    done = project.run("gen", "--format", "github")
    assert done.code == 2
    (command,) = done.out.splitlines()
    assert command.startswith(
        f"::error file=app/design.py,line={line},col={column},title=python-error::{message}"
    )


@pytest.mark.exhaustive
def test_people_get_the_traceback_and_the_hint(project: ProjectFolder, planted: Planted) -> None:
    _, (line, _), message, hint = planted
    done = project.run("gen")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: the module 'app.design' cannot be imported:\n\n")
    assert f'app/design.py", line {line}' in done.err
    assert f"\n{message}" in done.err
    assert ("\n  hint: " in done.err) == bool(hint)
    assert f"\n  hint: {hint}" in done.err or not hint


def test_the_place_is_in_the_project_and_the_file_may_be_another(project: ProjectFolder) -> None:
    """The error comes out of the standard library, which a function of the project called."""
    project.write("app/design.py", "from app.texts import texts\n")
    project.write(
        "app/texts.py", "import json\n\ndef read(text):\n    return json.loads(text)\n\ntexts = read('{')\n"
    )
    done = project.run("gen", "--format", "json")
    (record,) = findings_in(done.out)
    assert (record["file"], record["line"], record["column"]) == ("app/texts.py", 4, 12)
    assert record["message"].startswith("json.decoder.JSONDecodeError: Expecting property name")
    assert 'texts.py", line 6, in <module>' in done.err


def test_a_chain_of_errors_is_shown_whole_and_recorded_by_its_last(project: ProjectFolder) -> None:
    project.write(
        "app/design.py",
        "try:\n    Argz\nexcept NameError as error:\n    raise ValueError('no design') from error\n",
    )
    done = project.run("gen", "--format", "json")
    assert findings_in(done.out)[0]["message"] == "ValueError: no design"
    assert "NameError: name 'Argz' is not defined" in done.err


def test_what_a_design_prints_is_no_record(project: ProjectFolder) -> None:
    project.write("app/design.py", f"print('hello')\nprint('there')\n{DESIGN.replace('String, ', 'Strin, ')}")
    done = project.run("gen", "--format", "json")
    assert [finding["code"] for finding in findings_in(done.out)] == ["python-error"]
    assert done.err.startswith("hello\nthere\n")


def test_an_error_that_cannot_say_what_it_is(project: ProjectFolder) -> None:
    design = "class Mute(Exception):\n    def __str__(self): raise OSError\n\nraise Mute\n"
    project.write("app/design.py", design)
    done = project.run("gen", "--format", "json")
    assert (done.code, findings_in(done.out)[0]["line"]) == (2, 4)
    assert findings_in(done.out)[0]["message"] == "app.design.Mute: <exception str() failed>"


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ("x = 1", "the module 'app.design' does not define 'design'"),
        ("design = 1", "'design' in the module 'app.design' is an int, not a Design"),
    ],
)
def test_every_error_of_the_environment_is_a_record(
    project: ProjectFolder, design: str, message: str
) -> None:
    project.write("app/design.py", design)
    done = project.run("gen", "--format", "json")
    assert done.code == 2
    (record,) = findings_in(done.out)
    assert record["hint"]
    assert (record["code"], record["message"]) == ("environment", message)
    assert project.run("gen", "--format", "github").out.startswith(f"::error title=environment::{message}")
    assert project.run("gen").out == ""


def test_the_source_of_an_import_is_the_authors_code_too(project: ProjectFolder) -> None:
    project.write("tools.py", "def search(query: Texd) -> str: ...\n")
    done = project.run("import", "python", "tools.py", "--format", "json")
    assert done.code == 2
    (record,) = findings_in(done.out)
    assert (record["file"], record["line"]) == ("tools.py", 1)
    assert record["message"] == "NameError: name 'Texd' is not defined"


def test_a_design_that_is_no_utf_8_is_named(project: ProjectFolder) -> None:
    project.write("app/design.py", "").write_bytes(DESIGN.encode("utf-16"))
    done = project.run("gen")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: app/design.py is not UTF-8\n  hint: save it as UTF-8\n"
