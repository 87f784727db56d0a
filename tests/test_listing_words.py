"""What a tool says for those who choose it: it is deprecated, how it and its artifacts look."""

from __future__ import annotations

from typing import Any as Anything
from typing import get_args

import pytest

from toolgen.contract.names import ArtifactView
from toolgen.contract.tool_facts import Deprecation
from toolgen.contract.tool_facts import Icon as CheckedIcon
from toolgen.dsl import Artifact, Deprecated, Design, Icon, Object, Service, Tool, Toolset, build
from toolgen.dsl.expr.tree import Tool as CheckedTool
from toolgen.dsl.structure import ToolClause


def design(*clauses: ToolClause) -> Design:
    own = Toolset("t", "Tools.", Tool("old", "Find.", *clauses), Tool("new", "Find."))
    gone = Tool("gone", "Go.", Deprecated("Gone."))
    other = Toolset("u", "Others.", Tool("other", "Find."), gone)
    return Design("d", "A design.", Service("s", "Serves.", own, other))


def tool(*clauses: ToolClause) -> CheckedTool:
    evaluation = build(design(*clauses))
    assert evaluation.design is not None, evaluation.diagnostics
    return evaluation.design.services[0].toolsets[0].tools[0]


def wrong(*clauses: ToolClause) -> tuple[str, str, str]:
    (found,) = build(design(*clauses)).diagnostics
    return found.code, found.message, found.hint


@pytest.mark.parametrize(
    ("written", "id_"), [(None, ""), ("new", "s.t.new"), ("s.t.new", "s.t.new"), ("s.u.other", "s.u.other")]
)
def test_a_replacement_is_a_tool_of_the_design(written: str | None, id_: str) -> None:
    found = tool(Deprecated(" Too slow. ", replacement=written)).facts.deprecated
    assert found == Deprecation(reason="Too slow.", replacement=id_)


@pytest.mark.parametrize(
    ("written", "fault", "hint"),
    [
        ("nwe", "is 'nwe', which is not a tool of the design", "did you mean 'new'?"),
        ("s.t.nwe", "is 's.t.nwe', which is not a tool of the design", "did you mean 's.t.new'?"),
        (
            "other",
            "is 'other', which is not a tool of the design",
            "write 's.u.other', which is in another toolset",
        ),
        (
            "zzz",
            "is 'zzz', which is not a tool of the design",
            "omit the replacement; known are 'old', 'new'",
        ),
        ("old", "is the tool itself", "name another tool, or omit the replacement"),
        ("s.t.old", "is the tool itself", "name another tool, or omit the replacement"),
        ("s.u.gone", "is 's.u.gone', which is deprecated too", "name the replacement of 's.u.gone'"),
    ],
)
def test_a_replacement_that_cannot_be_is_reported(written: str, fault: str, hint: str) -> None:
    assert wrong(Deprecated("Old.", replacement=written)) == (
        "bad-replacement",
        f"replacement of the deprecated tool 'old' {fault}",
        hint,
    )


def test_a_reason_says_something_and_stands_once() -> None:
    assert wrong(Deprecated(" "))[0] == "wrong-argument"
    assert wrong(Deprecated("Old."), Deprecated("Old."))[0] == "duplicate-clause"


@pytest.mark.parametrize(
    "src",
    [
        "https://example.org/lamp.svg",
        "http://localhost:8080/lamp?size=48#a",
        "data:image/png;base64,iVBORw0KGgo=",
    ],
)
def test_an_icon_is_an_address_or_carries_its_image(src: str) -> None:
    assert tool(Icon(src)).facts.icons == (CheckedIcon(src=src),)


def test_a_tool_may_have_several_icons() -> None:
    found = tool(
        Icon("https://a.example/l.png", mime_type="image/png", sizes=["48x48", "any"], theme="light"),
        Icon("https://a.example/d.png", theme="dark"),
    ).facts.icons
    assert found == (
        CheckedIcon(
            src="https://a.example/l.png", mime_type="image/png", sizes=("48x48", "any"), theme="light"
        ),
        CheckedIcon(src="https://a.example/d.png", theme="dark"),
    )


@pytest.mark.parametrize(
    "src",
    [
        "",
        "icons/lamp.svg",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://exa mple.org/",
        "https://[1/",
        "data:text/html;base64,PGI+",
        "data:image/svg+xml,<svg/>",
    ],
)
def test_what_a_client_cannot_show_is_reported(src: str) -> None:
    code, message, hint = wrong(Icon(src))
    assert code == "bad-icon"
    assert message.endswith("which is neither an http or https URL nor a data URI of an image")
    assert hint == 'write a URL such as "https://example.org/lamp.svg"'


def test_other_facts_of_an_icon_are_checked() -> None:
    src = "https://a.example/l.png"
    assert wrong(Icon(src, mime_type="text/html"))[0] == "bad-icon"
    assert wrong(Icon(src, sizes=("48",)))[1] == (
        "sizes of an Icon of tool 'old' is '48', which is neither any nor a width and a height"
    )
    theme: Anything = "blue"
    assert wrong(Icon(src, theme=theme))[0] == "wrong-argument"
    sizes: Anything = "48x48"
    assert wrong(Icon(src, sizes=sizes)) == (
        "wrong-argument",
        "sizes of Icon is '48x48', not a tuple or a list of names",
        "write sizes=('48x48',)",
    )


@pytest.mark.parametrize("view", [*get_args(ArtifactView), None])
def test_an_artifact_says_how_it_is_shown(view: ArtifactView | None) -> None:
    (found,) = tool(Artifact("rows", Object(), "All rows.", view=view)).artifacts
    assert found.view == view


def test_a_view_is_one_of_those_that_there_are() -> None:
    view: Anything = "chart.pie"
    code, message, _ = wrong(Artifact("rows", Object(), "All rows.", view=view))
    assert code == "wrong-argument"
    assert message.startswith("view of Artifact 'rows' is 'chart.pie', not 'chart.line' or 'chart.bar' or ")
