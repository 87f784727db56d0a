"""Diagnostics as text, JSON and workflow commands, and the places that they name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolgen.contract.findings import Finding, Place, Related, render
from toolgen.dsl import Attribute, Design, Service, String, Tool, Toolset, Type, build
from toolgen.dsl.expr import Source

from .findings import VALIDATOR, findings_in

DESIGN = """\
from toolgen.dsl import *

größe = Type("Größe", "A size.", Attribute("ü", String, "Ü.", minimum=1))
design = Design("home", "A home.", größe, Toolset(
    "devices",
    "Find devices.",
))
"""


@pytest.fixture
def diagnostics(tmp_path: Path) -> tuple[Finding, ...]:
    file = tmp_path / "app" / "design.py"
    file.parent.mkdir()
    file.write_text(DESIGN, encoding="utf-8")
    names: dict[str, Design] = {}
    exec(compile(DESIGN, str(file), "exec"), names)
    return build(names["design"]).diagnostics


def plain(diagnostics: tuple[Finding, ...], root: Path) -> str:
    return render(diagnostics, "text", str(root))


class TestText:
    def test_an_empty_line_stands_between_two(self, diagnostics: tuple[Finding, ...], tmp_path: Path) -> None:
        """A place is relative to the root, and carets count characters, not bytes."""
        bad_name, mismatch, misplaced = plain(diagnostics, tmp_path).split("\n\n")
        assert bad_name.startswith("app/design.py:3:9: error: name 'Größe' of the type ")
        assert mismatch == (
            "app/design.py:3:34: error: 'minimum' of 'ü' does not apply to the type String"
            " [constraint-mismatch]\n"
            'größe = Type("Größe", "A size.", Attribute("ü", String, "Ü.", minimum=1))\n'
            "                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "  hint: write min_length=…; String takes enum, min_length, max_length, pattern, format"
        )
        assert misplaced.splitlines()[1:3] == [
            'design = Design("home", "A home.", größe, Toolset(',
            "                                          ^^^^^^^^",
        ]

    def test_a_file_outside_the_root_keeps_its_path(
        self, diagnostics: tuple[Finding, ...], tmp_path: Path
    ) -> None:
        (tmp_path / "other").mkdir()
        assert plain(diagnostics, tmp_path / "other").startswith(f"{tmp_path}/app/design.py:3:9: error:")

    def test_colours_change_nothing_but_the_colour(
        self, diagnostics: tuple[Finding, ...], tmp_path: Path
    ) -> None:
        """Without its escape sequences the text is the plain one."""
        coloured = render(diagnostics, "text", str(tmp_path), colour=True)
        for style in ("0", "1", "1;31", "2", "36"):
            assert f"\x1b[{style}m" in coloured
            coloured = coloured.replace(f"\x1b[{style}m", "")
        assert coloured == plain(diagnostics, tmp_path)


class TestJson:
    def test_each_line_is_one_diagnostic(self, diagnostics: tuple[Finding, ...], tmp_path: Path) -> None:
        """The end is the place right after the call, lines below its start too."""
        lines = render(diagnostics, "json", str(tmp_path))
        _, mismatch, misplaced = findings_in(lines)
        assert mismatch == {
            "severity": "error",
            "code": "constraint-mismatch",
            "message": "'minimum' of 'ü' does not apply to the type String",
            "file": "app/design.py",
            "line": 3,
            "column": 34,
            "end": {"line": 3, "column": 73},
            "hint": "write min_length=…; String takes enum, min_length, max_length, pattern, format",
            "suppressible": False,
            "related": [],
        }
        assert (misplaced["line"], misplaced["column"], misplaced["end"]) == (4, 43, {"line": 7, "column": 2})

    def test_related_places_have_their_message(self) -> None:
        twins = Type("A", "An A."), Type("A", "Another A.")
        (finding,) = findings_in(render(build(Design("home", "A home.", *twins)).diagnostics, "json", "/"))
        (related,) = finding["related"]
        assert related["message"] == "first defined here"
        assert set(related) == {"message", "file", "line", "column", "end"}

    @pytest.mark.parametrize(
        "wrong",
        [
            {"severity": "fatal"},
            {"suppressible": True},
            {"is_warning": False},
            {"line": 1},
            {"pointer": "tools"},
            {"hint": None},
        ],
        ids=lambda wrong: next(iter(wrong)),
    )
    def test_the_schema_refuses_what_is_no_finding(self, wrong: dict[str, Any]) -> None:
        """An error is never suppressible, and a place is whole."""
        (good,) = findings_in(render([Finding(code="environment", message="x")], "json", "/"))
        assert not VALIDATOR.is_valid(good | wrong)


class TestGithub:
    def test_each_line_is_one_command(self, diagnostics: tuple[Finding, ...], tmp_path: Path) -> None:
        """The hint stands in the message, on a line of its own."""
        lines = render(diagnostics, "github", str(tmp_path)).splitlines()
        assert len(lines) == 3
        assert lines[1] == (
            "::error file=app/design.py,line=3,col=34,title=constraint-mismatch::"
            "'minimum' of 'ü' does not apply to the type String%0A"
            "hint: write min_length=…; String takes enum, min_length, max_length, pattern, format"
        )

    def test_what_has_a_meaning_is_escaped(self) -> None:
        """A message cannot end the command or begin another one."""
        source = Source(compile("", "a,b:c%.py", "exec"), 10**6)
        related = Related(message="it stands\r\nhere", place=source.located())
        finding = Finding(
            code="bad-name", message="100%\n::error::", place=source.located(), related=(related,)
        )
        assert render([finding], "github", "/") == (
            "::error file=a%2Cb%3Ac%25.py,line=1,col=1,title=bad-name::"
            "100%25%0A::error::%0Aa,b:c%25.py:1:1: it stands\\r\\nhere"
        )

    def test_what_a_log_would_hide_or_obey_is_escaped(self) -> None:
        source = Source(compile("", "a.py", "exec"), 10**6)
        finding = Finding(code="bad-name", message="\x9b2J\u202e", hint="\u200b", place=source.located())
        assert render([finding], "github", "/") == (
            "::error file=a.py,line=1,col=1,title=bad-name::\\u009b2J\\u202e%0Ahint: \\u200b"
        )


@pytest.mark.parametrize("format", ["text", "json", "github"])
def test_nothing_is_nothing(format: str) -> None:
    assert render((), format, "/") == ""  # type: ignore[arg-type]  # one of the three


class TestImported:
    """A finding names the tool and the place in the document before what is wrong there."""

    PLACE = Place(file="api.json", pointer="/paths/0")

    def test_text_names_both_and_a_shared_hint_once(self) -> None:
        one = Finding(code="import-left-out", message="is odd", tool="a", place=self.PLACE, hint="correct it")
        other = replace(one, tool="", place=Place(file="api.json", pointer=""), severity="warning")
        assert render([one, other], "text", "/") == (
            "api.json: error: tool 'a' at /paths/0: is odd [import-left-out]\n"
            "api.json: warning: is odd [import-left-out]\n"
            "  hint: correct it"
        )

    def test_what_is_long_loses_its_middle_for_people_only(self) -> None:
        long = Finding(code="import-long-name", message="is long", tool="a" * 300)
        assert f"tool '{'a' * 100}…{'a' * 100}': is long" in render([long], "text", "/")
        (finding,) = findings_in(render([long], "json", "/"))
        assert finding["tool"] == "a" * 300

    def test_a_line_of_a_message_cannot_pass_for_a_finding(self) -> None:
        forged = Finding(code="import-bad-schema", message="odd\nb.json: error: x", place=self.PLACE)
        assert render([forged], "text", "/").splitlines()[1] == "  b.json: error: x"


class TestSource:
    def test_a_call_encloses_what_stands_in_it(self) -> None:
        outer = Toolset("devices", "Devices.", inner := Tool("find", "Find."))
        assert outer.source.encloses(inner.source)
        assert not inner.source.encloses(outer.source)

    def test_columns_may_be_missing(self) -> None:
        """The end is the start then, and everything counts as enclosed."""
        source = Source(compile("", "a.py", "exec"), 10**6)
        assert (source.place, source.end) == (("a.py", 1, 1), (1, 1))
        assert source.encloses(Attribute("id", String, "Id.").source)
        assert not Service("s", "S.").source.encloses(source)
