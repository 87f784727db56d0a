"""docs/commands.md has an entry for each command, with its options and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from toolgen.cli.app import app

PAGE = Path(__file__).parents[1] / "docs/commands.md"
COMMON = {"--config", "--format", "--json", "--help"}
"""The page describes them once for all commands."""
GROUPED = {"runs", "grants", "tools", "artifacts"}
"""The commands of each of these groups share one entry."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
OF_OTHERS = re.compile(r"`(?:toolgen )?(?:breaking|worker) --[^`]*`")
"""Options of another command that an entry mentions."""

NAMED = re.compile(r"  [a-z]+  ").match
"""A line of the help with the name of a command."""


def commands(group: TyperGroup) -> Iterator[tuple[str, set[str]]]:
    """Yield the entry and the options of each command."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from (
                (name if name in GROUPED else f"{name} {each}", own) for each, own in commands(command)
            )
        else:
            yield name, options(command)


def options(command: Any) -> set[str]:
    names = [name for param in command.params for name in [*param.opts, *param.secondary_opts]]
    return {name for name in names if name.startswith("--")}


def offered() -> dict[str, set[str]]:
    """Return the options of each entry."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    found: dict[str, set[str]] = {}
    for entry, names in commands(group):
        found[entry] = found.get(entry, set()) | names
    return found


OFFERED = offered()


def entries() -> dict[str, str]:
    parts = re.split(r"\n## `toolgen ([\w ]+)`\n", PAGE.read_text("utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_each_command_has_one_entry() -> None:
    assert sorted(entries()) == sorted(OFFERED)


@pytest.mark.parametrize("entry", OFFERED)
def test_an_entry_has_the_options_of_its_command(entry: str) -> None:
    named = set(OPTION.findall(OF_OTHERS.sub("", entries()[entry])))
    assert OFFERED[entry] - COMMON <= named <= OFFERED[entry] | COMMON


def test_the_help_has_each_command_once() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    listed = [
        line.split()[0] for line in CliRunner().invoke(app, ["--help"]).output.splitlines() if NAMED(line)
    ]
    assert sorted(listed) == sorted(group.commands)
