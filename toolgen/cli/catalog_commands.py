"""The commands that look at tools as models see them: what a provider is told, and what is used badly."""

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
            help="How the provider takes tools, such as openai-strict; without it, all are named.",
            metavar="DIALECT",
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Argument(help="A tool_schemas.json; by default that of the project.", metavar="FILE"),
    ] = None,
    tool: Annotated[str, typer.Option(help="This tool only, by id or name.", metavar="TOOL")] = "",
    tokenizer: Annotated[
        str, typer.Option(help="Count exactly, by this encoding of tiktoken: o200k_base.", metavar="NAME")
    ] = "",
    losses: Annotated[
        bool | None,
        typer.Option(
            "--losses/--tokens",
            help="Print what the provider's schemas do not say, or about how many tokens each tool is.",
        ),
    ] = None,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="text is indented and for people, json is compact.")
    ] = "text",
    config: Config = None,
) -> None:
    """Print the tools as a model's provider takes them in a request.

    Such as: toolgen schema --for openai-strict --losses
    """
    from toolgen.catalog.providers import DIALECTS

    from .outcome import print_outcome
    from .schema import ToolSource, show_schemas

    counts = losses is False or bool(tokenizer)
    if not (dialect or counts):
        raise typer.BadParameter(f"it is missing; one of: {', '.join(DIALECTS)}", param_hint="--for")
    source = ToolSource(file=file, project=None if file else find_project(config))
    if counts:
        from .token_counts import show_tokens

        raise typer.Exit(print_outcome(show_tokens(source, dialect, tokenizer, format)))
    outcome = show_schemas(source, dialect, tool, is_losses=bool(losses), format=format)
    raise typer.Exit(print_outcome(outcome))


def lint(
    file: Annotated[
        Path | None,
        typer.Argument(help="A tool_schemas.json; by default the design of the project.", metavar="FILE"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for warnings too.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules with their levels instead.")] = False,
    format: OutputFormat = "text",
    config: Config = None,
) -> None:
    """Report what a model will use badly: descriptions, names, sizes, lists and enums.

    Such as: toolgen lint --strict
    """
    from .linting import lint_settings, lint_tools, rules_text
    from .outcome import print_error_records, print_outcome

    with print_error_records(format):
        project = find_project(config) if config or not file else None
        if rules:
            print(rules_text(lint_settings(project)))
            return
        raise typer.Exit(print_outcome(lint_tools(project, file, format, is_strict=strict)))
