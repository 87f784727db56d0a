"""Each word explains itself: in the editor, in docs/dsl.md, and to those who come from Goa-AI."""

from __future__ import annotations

import inspect
import re
import runpy
import tomllib
import typing
from pathlib import Path

import pytest

from tests.reference import arguments, check, docstring, explanations
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
MODULES = {word: module.__name__ for module in (dsl, http) for word in module.__all__}
EXAMPLE = re.compile(r"Example: `([^\n]+)`\Z")
CAUSES = {
    code: words.split()
    for code, words in tomllib.loads(Path(__file__).with_name("dsl_causes.toml").read_text("utf-8")).items()
}
"""The clauses that can cause each diagnostic; `general` has the diagnostics of all clauses."""
GENERAL = CAUSES.pop("general")


@pytest.mark.parametrize("word", first(WORDS, 8))
def test_a_word_shows_an_example_that_evaluates(word: str) -> None:
    """The example uses the word, and is a piece of a design as it stands."""
    match = EXAMPLE.search(docstring(MODULES[word], word))
    assert match
    names: dict[str, object] = {"d": dsl, "http": http}
    exec('Device = d.Type("Device", "A device.", d.Attribute("id", d.String, "Identifier."))', names)
    exec(match[1], names)
    assert word in match[1]


def diagnostics_of(word: str) -> str:
    """Return the last line of an entry."""
    codes = [code for code in RULES if word in CAUSES.get(code, ())]
    links = ", ".join(f"[{code}](diagnostics.md#{code})" for code in codes)
    return f"\nDiagnostics: {links}.\n" if codes else ""


def test_the_documentation_says_what_the_editor_says() -> None:
    """`UPDATE=1` rewrites it."""
    check("dsl.md", diagnostics_of)


@pytest.mark.parametrize("word", [word for word in WORDS if inspect.isclass(VALUES[word])])
def test_a_word_explains_its_parameters(word: str) -> None:
    parameters = {*inspect.signature(VALUES[word]).parameters}
    explained = explanations(MODULES[word], word)
    assert parameters <= {*explained}
    assert {*arguments(docstring(MODULES[word], word))} <= parameters


def test_the_language_fits_on_a_page() -> None:
    """Who describes tools, services, types and agents meets no word of HTTP."""
    assert len(dsl.__all__) <= 70
    assert not [word for word in http.__all__ if hasattr(dsl, word)]


def test_every_word_has_an_entry() -> None:
    entries = re.findall(r"^### `(\w+)`$", (DOCS / "dsl.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(entries) == sorted(WORDS)


def test_every_code_stands_with_a_word() -> None:
    """Or in the table of the codes of all words."""
    assert {*CAUSES, *GENERAL} == {*RULES}
    assert {word for words in CAUSES.values() for word in words} <= {*WORDS}
    general = (DOCS / "dsl.md").read_text("utf-8").partition("\n## Diagnostics of all clauses\n")[2]
    assert {*re.findall(r"\[([\w-]+)\]\(diagnostics\.md#", general)} == {*GENERAL}


@pytest.mark.parametrize("code", first(RULES, 8))
def test_a_code_stands_with_the_word_that_it_points_to(code: str, tmp_path: Path) -> None:
    file = tmp_path / "design.py"
    file.write_text(blocks(code)["python"], "utf-8")
    (diagnostic,) = build(runpy.run_path(str(file))["design"]).diagnostics
    line = file.read_text("utf-8").splitlines()[diagnostic.place.line - 1]
    word = re.match(r"(?:d|http)\.(\w+)", line[diagnostic.place.column - 1 :])
    assert word
    assert code in GENERAL or word[1] in CAUSES[code]


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
