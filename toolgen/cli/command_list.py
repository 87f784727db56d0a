"""The commands at the top level: their order in the help, and the selection of the called one."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command_name
from typer.models import CommandInfo

_SECTIONS: Final = {
    "Create tools": ("init", "import", "gen", "stubs", "test"),
    "Review tools": ("lint", "breaking", "diff", "schema", "explain"),
    "Call tools and run agents": ("call", "run", "chat", "approve"),
    "Serve": ("serve", "mcp", "worker"),
    "Operate": ("runs", "tools", "grants", "artifacts"),
}
"""Sections of `toolgen --help`, with their commands in the order in which a project needs them."""


class Commands(TyperGroup):
    """The commands; for a longer word such as `generate`, the error suggests the command `gen`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return [name for section in _SECTIONS.values() for name in section if name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each section with the whole first paragraph of each command."""
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(1000)) for name in names])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a word; for an unknown word, suggest the command that it begins with."""
        meant = [name for name in self.commands if args and args[0].startswith(name)]
        if meant and args[0] not in self.commands:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant[0]!r}?")
        return super().resolve_command(ctx, args)


def narrowed(app: typer.Typer, args: Sequence[str]) -> typer.Typer:
    """Return an app with only the command or the group that is called: typer would build all of them."""
    word = args[0] if args else ""
    commands = [each for each in app.registered_commands if _word_of(each) == word]
    groups = [each for each in app.registered_groups if each.name == word]
    if not (commands or groups):
        return app
    narrow = copy(app)
    narrow.registered_commands, narrow.registered_groups = commands, groups
    return narrow


def _word_of(command: CommandInfo) -> str:
    return command.name or get_command_name(command.callback.__name__ if command.callback else "")
