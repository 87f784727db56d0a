"""The commands `toolgen schema` and `toolgen lint`, which read tools as models see them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .command_groups import Config
from .config import find_project
from .import_command import OutputFormat


def schema(
    dialect: Annotated[
        str,
        typer.Option(
            "--for",
            help="Format of a model provider, such as openai-strict; optional with --tokens.",
            metavar="DIALECT",
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Argument(help="tool_schemas.json to read; by default the project's.", metavar="FILE"),
    ] = None,
    tool: Annotated[str, typer.Option(help="Only this tool, by id or name.", metavar="TOOL")] = "",
    tokenizer: Annotated[
        str, typer.Option(help="Count exactly with this tiktoken encoding, e.g. o200k_base.", metavar="NAME")
    ] = "",
    losses: Annotated[
        bool | None,
        typer.Option(
            "--losses/--tokens",
            help="Print what the provider's schemas cannot express, or the approximate tokens of each tool.",
        ),
    ] = None,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="text is indented, json is compact.")
    ] = "text",
    config: Config = None,
) -> None:
    """Print the tools in the format that a model provider expects in a request.

    Example: toolgen schema --for openai-strict --losses
    """
    from toolgen.catalog.providers import DIALECTS

    from .outcome import print_outcome
    from .schema import ToolSource, show_schemas

    counts = losses is False or bool(tokenizer)
    if not (dialect or counts):
        raise typer.BadParameter(f"required; one of: {', '.join(DIALECTS)}", param_hint="--for")
    source = ToolSource(file=file, project=None if file else find_project(config))
    if counts:
        from .token_counts import show_tokens

        raise typer.Exit(print_outcome(show_tokens(source, dialect, tokenizer, format)))
    outcome = show_schemas(source, dialect, tool, is_losses=bool(losses), format=format)
    raise typer.Exit(print_outcome(outcome))


def lint(
    file: Annotated[
        Path | None,
        typer.Argument(help="tool_schemas.json to check; by default the project's design.", metavar="FILE"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Also exit 1 for warnings.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules with their levels instead.")] = False,
    format: OutputFormat = "text",
    config: Config = None,
) -> None:
    """Report descriptions, names, sizes, lists and enums that models are likely to misuse.

    Example: toolgen lint --strict
    """
    from .linting import lint_settings, lint_tools, rules_text
    from .outcome import print_error_records, print_outcome

    with print_error_records(format):
        project = find_project(config) if config or not file else None
        if rules:
            print(rules_text(lint_settings(project)))
            return
        raise typer.Exit(print_outcome(lint_tools(project, file, format, is_strict=strict)))
