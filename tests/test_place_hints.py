"""Clauses where they do not belong: what the hint says to write is a design without mistakes."""

from __future__ import annotations

import pytest

from toolgen import dsl
from toolgen.dsl import build, http
from toolgen.dsl.evaluation import Evaluation

DESIGN = """
Note = Type("Note", "A note.", Attribute("text", String, "Its text.", required=True))
add = Tool("add", "Add a note.", Args(Note), Return(Note))
notes = Toolset("notes", "Notes.", add)
save = Method("save", "Save a note.")
design = Design("desk", "A desk.", Service("Store", "Keeps notes.", save), Service(
    "desk", "Helps.", notes, Agent("chat", "Talks.", Use(notes)),
    Completion("report", "Reports.", Return(Note)),
))
"""

CASES = {
    # What is written, with what is wrong in it, what the hint says, and what follows from it.
    "a tool's arguments in a method": (
        ('"Save a note."', '"Save a note.", Args(Note)'),
        "write d.Payload(…) instead",
        ("Args(Note))\ndesign", "Payload(Note))\ndesign"),
    ),
    "a tool's result in a method": (
        ('"Save a note."', '"Save a note.", Return(Note)'),
        "write d.Result(…) instead",
        ("Return(Note))\ndesign", "Result(Note))\ndesign"),
    ),
    "a toolset in an agent": (
        ("Use(notes)", "notes"),
        "write d.Use(d.Toolset(…))",
        ('"Talks.", notes', '"Talks.", Use(notes)'),
    ),
    "a tool in an agent": (
        ("Use(notes)", "add"),
        "put it into a Toolset that the agent uses: d.Use(toolset)",
        ('"Talks.", add', '"Talks.", Use(notes)'),
    ),
    "a tool in Use": (
        ("Use(notes)", "Use(add)"),
        "pass the toolset that contains it: d.Use(toolset, only=['add'])",
        ("Use(add)", "Use(notes, only=['add'])"),
    ),
    "a name in Use": (
        ("Use(notes)", 'Use("notes")'),
        "pass the toolset itself, the value of d.Toolset('notes', …); for an agent in another module: "
        "d.AgentToolset(service, agent, toolset)",
        ('Use("notes")', "Use(notes)"),
    ),
    "a service in Use": (
        ("Use(notes)", 'Use(Service("other", "Others.", notes))'),
        "pass one of its toolsets: d.Use(toolset)",
        ('Use(Service("other", "Others.", notes))', "Use(notes)"),
    ),
    "a history in an agent": (
        ("Use(notes)", "Use(notes), History(keep_turns=3)"),
        "write d.RunPolicy(history=d.History(…))",
        ("History(keep_turns=3)", "RunPolicy(history=History(keep_turns=3))"),
    ),
    "a type in a completion": (
        ("Return(Note)),\n)", "Note),\n)"),
        "write d.Return(Note)",
        ('"Reports.", Note', '"Reports.", Return(Note)'),
    ),
    "a result of a method in a completion": (
        ("Return(Note)),\n)", "Result(Note)),\n)"),
        "write d.Return(…) instead",
        ("Result(Note)", "Return(Note)"),
    ),
    "arguments of a completion": (
        ('"Reports.", ', '"Reports.", Args(Note), '),
        "remove it: a completion receives its message when it is called",
        ('"Reports.", Args(Note), ', '"Reports.", '),
    ),
    "a request in a method": (
        ('"Save a note."', '"Save a note.", POST("/notes")'),
        "write http.HTTP(http.POST(…))",
        (
            '"Keeps notes.", save), Service',
            '"Keeps notes.", Server("https://x.example"), save), Service',
            'POST("/notes")',
            'HTTP(POST("/notes"))',
        ),
    ),
    "a verb as a text": (
        ('"Save a note."', '"Save a note.", HTTP("POST", "/notes")'),
        'write the verb as a clause, with its path: http.HTTP(http.GET("/…"))',
        (
            '"Keeps notes.", save), Service',
            '"Keeps notes.", Server("https://x.example"), save), Service',
            'HTTP("POST", "/notes")',
            'HTTP(POST("/notes"))',
        ),
    ),
    "a name as the security": (
        ('"Save a note."', '"Save a note.", Security("key"), HTTP(POST("/notes"))'),
        "write a scheme, such as http.BearerSecurity('key', …) or http.APIKeySecurity(…)",
        (
            '"Keeps notes.", save), Service',
            '"Keeps notes.", Server("https://x.example"), save), Service',
            'Security("key")',
            'Security(BearerSecurity("key", "Its key."))',
        ),
    ),
    "a service and its method in one text": (
        ("Args(Note), Return(Note))", 'BindTo("Store.save"))'),
        """service 'Store' has it: write d.BindTo("Store", "save")""",
        ('"Store.save"', '"Store", "save"'),
    ),
    "a union of types without names": (
        ("String, ", 'OneOf(Type("A", "A."), Type("B", "B.")), '),
        'the tag comes first, then a name for each branch: d.OneOf("kind", stop=…, wait=…)',
        (
            'OneOf(Type("A", "A."), Type("B", "B.")), ',
            'OneOf("kind", a=Type("A", "A."), b=Type("B", "B.")), ',
        ),
    ),
    "a description before its type": (
        ('String, "Its text."', '"Its text.", String'),
        "write the type first: d.Attribute('text', d.String, …)",
        ('"Its text.", String', 'String, "Its text."'),
    ),
    "a type with brackets of Python": (
        ("String, ", "ArrayOf[String], "),
        "write d.ArrayOf(d.String)",
        ("ArrayOf[String]", "ArrayOf(String)"),
    ),
    "a dict in the place of an object": (
        ("String, ", '{"first": String}, '),
        "write d.Object(d.Attribute('first', d.String, \"…\"))",
        ('{"first": String}', "Object(Attribute('first', String, \"…\"))"),
    ),
    "a literal": (
        ("String, ", 'Literal["a", "b"], '),
        "write d.String, and enum=('a', 'b')",
        ('Literal["a", "b"], "Its text.", ', "String, \"Its text.\", enum=('a', 'b'), "),
    ),
    "a literal of nothing": (
        ("String, ", "Literal[()], "),
        "write a type such as d.String, d.ArrayOf(d.String) or the name of a Type",
        ("Literal[()]", "String"),
    ),
}


def evaluate(text: str) -> Evaluation:
    names = {name: getattr(module, name) for module in (dsl, http) for name in module.__all__}
    exec(compile(f"from typing import Literal\n{text}", "design.py", "exec"), names)
    return build(names["design"])


@pytest.mark.parametrize(("wrong", "hint", "fix"), CASES.values(), ids=list(CASES))
def test_what_the_hint_says_is_a_design(wrong: tuple[str, str], hint: str, fix: tuple[str, ...]) -> None:
    assert evaluate(DESIGN).diagnostics == ()
    broken = DESIGN.replace(*wrong)
    assert hint in [diagnostic.hint for diagnostic in evaluate(broken).diagnostics]
    for old, new in zip(fix[::2], fix[1::2], strict=True):
        assert old in broken
        broken = broken.replace(old, new)
    assert evaluate(broken).diagnostics == ()
