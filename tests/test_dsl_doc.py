"""Each word explains itself: in the editor, in docs/dsl.md, and to those who come from Goa-AI."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import runpy
import typing
from pathlib import Path

import pytest

from tests.selection import first
from tests.surface import exported, public_modules
from toolgen import dsl
from toolgen.cli.explain import blocks
from toolgen.dsl import build, datatypes, http
from toolgen.dsl.clause import Clause
from toolgen.dsl.evaluation.checks.argument_types import HOLDERS, arguments_of
from toolgen.dsl.expr import RULES
from toolgen.shapes.lexical import STRING_FORMATS

DOCS = Path(__file__).parent.parent / "docs"
WORDS = [*dsl.__all__, *http.__all__]
VALUES = {word: getattr(module, word) for module in (dsl, http) for word in module.__all__}
SECTION = re.compile(r"^### `(\w+)`\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall((DOCS / "dsl.md").read_text("utf-8") + "##"))
EXAMPLE = re.compile(r"\A(?P<meaning>.+?)\n\nExample: `(?P<code>[^\n]+)`\Z", re.DOTALL)


def docstrings() -> dict[str, str]:
    """Return what an editor shows: the docstring of a class, or the one below a primitive."""
    found = {name: inspect.getdoc(VALUES[name]) or "" for name in WORDS}
    body = ast.parse(inspect.getsource(datatypes)).body
    for statement, below in itertools.pairwise(body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
            case _:
                pass
    return found


DOCSTRINGS = docstrings()


def shown(word: str) -> tuple[str, str]:
    """Return the meaning and the example of a word's docstring."""
    match = EXAMPLE.match(DOCSTRINGS[word])
    assert match, f"{word}: {DOCSTRINGS[word]}"
    return " ".join(match["meaning"].split()), match["code"]


@pytest.mark.parametrize("word", first(WORDS, 8))
def test_a_word_shows_an_example_that_evaluates(word: str) -> None:
    """The example uses the word, and is a piece of a design as it stands."""
    _, code = shown(word)
    names: dict[str, object] = {"d": dsl, "http": http}
    exec('Device = d.Type("Device", "A device.", d.Attribute("id", d.String, "Identifier."))', names)
    exec(code, names)
    assert word in code


@pytest.mark.parametrize("word", first(WORDS, 8))
def test_the_documentation_says_what_the_editor_says(word: str) -> None:
    """Meaning and example are those of the docstring; then comes the result."""
    meaning, code = shown(word)
    assert SECTIONS[word].startswith(f"\n{meaning}\n\n```python\n{code}\n```\n\n**Result:** ")


def test_the_language_fits_on_a_page() -> None:
    """Who describes tools, services, types and agents meets no word of HTTP."""
    assert len(dsl.__all__) <= 70
    assert not [word for word in http.__all__ if hasattr(dsl, word)]


def test_every_section_is_of_a_word() -> None:
    assert set(SECTIONS) == set(WORDS)


def causes(word: str) -> list[str]:
    return re.findall(r"\(diagnostics\.md#([\w-]+)\)", SECTIONS[word])


def test_every_code_stands_with_a_word() -> None:
    """And no word names a code that is gone, or one twice."""
    assert {code for word in WORDS for code in causes(word)} == set(RULES)
    assert all(len(set(causes(word))) == len(causes(word)) for word in WORDS)


@pytest.mark.parametrize("code", first(RULES, 8))
def test_a_code_stands_with_the_word_that_it_points_to(code: str, tmp_path: Path) -> None:
    file = tmp_path / "design.py"
    file.write_text(blocks(code)["python"], "utf-8")
    (diagnostic,) = build(runpy.run_path(str(file))["design"]).diagnostics
    line = file.read_text("utf-8").splitlines()[diagnostic.place.line - 1]
    word = re.match(r"(?:d|http)\.(\w+)", line[diagnostic.place.column - 1 :])
    assert word
    assert code in causes(word[1])


def test_every_word_stands_in_the_comparison_with_goa_ai() -> None:
    """In the column of toolgen."""
    column = " ".join(row[1] for row in rows("comparison.md", "Goa-AI") if len(row) > 2)
    assert set(WORDS) <= set(re.findall(r"`(\w+)`", column))


GOA_AI = frozenset(
    "APIVersion AfterSystem AfterTools Agent AgentToolset Args Artifact Audience BindTo Bookkeeping "
    "BoundedResult Budget Cache CacheTTL CallHintTemplate Completion CompressAtMaxInputTokens "
    "CompressAtTurns Confirmation ContinueWith Cursor DefaultCaps Deferred DeniedResultTemplate "
    "DestructiveHint DisableAgentDocs Exclude Export Federation FromExternalMCP FromMCP "
    "FromMethodResultField FromRegistry History IdempotentHint Include Inject Input InputExchange "
    "InterruptsAllowed KeepMaxInputTokens KeepMaxTurns KeepRecentTurns MCP "
    "MaxConsecutiveFailedToolCalls MaxRecoveryTurns MaxToolCalls NativeImage NextCursor "
    "OnMissingFields OpenWorldHint Passthrough Plan Prompt PromptCatalog PromptCompletion "
    "PromptTemplate PublishTo ReadOnlyHint Registry ReplanOnTimeout RequiresUI Resource "
    "ResourceCatalog ResourceCompletion ResourceDirectory ResourceReader ResourceTemplate "
    "ResourceTemplateCatalog ResultHintTemplate ResultReminder Retry Return RunPolicy Scenario "
    "ServerData SkillCatalog SkillLookup StaticPrompt SubscriptionSource Suite SyncInterval Tags "
    "TaskExchange TerminalRun TimeBudget Timing Tool ToolCatalog ToolContent ToolMetadata ToolTitle "
    "ToolUI ToolVisibility Tools Toolset UIInstructions UIOnly UIResultReminder URL Use "
    "UseAgentToolset Version".split()
)
"""The words of Goa-AI's design language, of 0.88 and two earlier names."""
GOA_FORMATS = "CIDR Date DateTime Email Hostname IP IPv4 IPv6 JSON MAC RFC1123 Regexp URI UUID".split()


def rows(file: str, section: str = "") -> list[list[str]]:
    """Return the cells of each row of the tables of a document, or of its section of this heading."""
    text = (DOCS / file).read_text("utf-8")
    if section:
        _, heading, text = text.partition(f"\n## {section}\n")
        assert heading
        text = text.partition("\n## ")[0]
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [row for row in cells if not set("".join(row)) <= set("- ")]


def test_every_word_and_format_of_goa_ai_stands_in_the_comparison() -> None:
    """In the column of Goa-AI."""
    named = {word for row in rows("comparison.md", "Goa-AI") for word in re.findall(r"\w+", row[0])}
    assert sorted(GOA_AI - named) == []
    assert [name for name in GOA_FORMATS if f"Format{name}" not in named] == []


def test_what_the_comparison_offers_is_there() -> None:
    """Names are of a public module, keywords of a clause, and formats of the language."""
    public = {name for module in public_modules() for name in exported(module)}
    keywords = {name for word in WORDS if inspect.isclass(each := VALUES[word]) for name in keywords_of(each)}
    for row in rows("comparison.md", "Goa-AI"):
        offered = row[1] if len(row) > 2 else ""
        for name in re.findall(r"`([A-Z]\w+)`", offered):
            assert name in public, row
        for name in re.findall(r"`(\w+)=`", offered):
            assert name in keywords, row
        if offered.strip() == "`format=`":
            assert set(re.findall(r"`(\w+)`", row[2])) == set(STRING_FORMATS)


def keywords_of(clause: type) -> set[str]:
    return set(inspect.signature(clause).parameters)


@pytest.mark.parametrize("name", first([name for name in WORDS if inspect.isclass(VALUES[name])], 8))
def test_the_annotations_of_a_word_resolve_at_run_time(name: str) -> None:
    """In its own module, as tools for documentation read them."""
    function = VALUES[name].__init__
    assert set(typing.get_type_hints(function)) == set(inspect.get_annotations(function))


@pytest.mark.parametrize("word", HOLDERS, ids=lambda word: word.__name__)
def test_an_editor_offers_the_children_that_the_build_takes(word: type[Clause]) -> None:
    """The signature of a word and the annotation of its children, which the build reads, say the same."""
    hint = typing.get_type_hints(word.__init__)["children"]
    offered = {typing.get_origin(child) or child for child in typing.get_args(hint) or (hint,)}
    taken: set[object] = set(arguments_of(word).children or ())
    if datatypes.DataType in taken:
        taken = taken - {datatypes.DataType} | {dsl.Type, dsl.JSONSchema}
    assert offered - {str} == taken


def test_every_clause_that_holds_others_is_proposed_for_them() -> None:
    """Every annotation of a class of the language can be read, and no clause with children is forgotten."""
    classes = [word for word in VALUES.values() if isinstance(word, type)]
    clauses = [word for word in classes if issubclass(word, Clause)]
    assert {word for word in clauses if arguments_of(word).children is not None} == set(HOLDERS)
