"""The commands `toolgen breaking` and `toolgen diff`, and their options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .config import find_project

Against = Annotated[
    str,
    typer.Option(
        help="Version to compare with: a catalog, a folder, a git revision, a lock, mcp:NAME or mcp:URL.",
        metavar="REF",
    ),
]
To = Annotated[str, typer.Option(help="New version; by default the project's design.", metavar="REF")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="Accept a change: CODE@TOOL, CODE@TOOL:ARGUMENT, or weakened:PLACE for a weaker guard.",
        metavar="CHANGE",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        help="Kind of change that fails; by default weakened, callers, consumers, suspended_calls and "
        "undecided; also generated_code, behaviour or texts.",
        metavar="KIND",
    ),
]
BaselineFile = Annotated[Path | None, typer.Option(help="Accept the changes in this file.", metavar="FILE")]
Journal = Annotated[
    Path | None,
    typer.Option(
        help="Check the suspended calls in this file of runs against the new contract.", metavar="FILE"
    ),
]
Format = Annotated[
    Literal["text", "json", "github", "sarif"],
    typer.Option(help="Output format; all formats except text are printed to stdout."),
]
DiffFormat = Annotated[
    Literal["markdown", "baseline"],
    typer.Option(help="markdown is for people, baseline for `toolgen breaking --baseline`."),
]
ConfigFile = Annotated[Path | None, typer.Option(help="The pyproject.toml of the project.", metavar="FILE")]


def breaking(
    against: Against = "",
    to: To = "",
    allow: Allow = None,
    fail_on: FailOn = None,
    baseline: BaselineFile = None,
    journal: Journal = None,
    format: Format = "text",
    config: ConfigFile = None,
) -> None:
    """Report changes that break callers or weaken guards; exit 1 if one of them is not accepted.

    Example: toolgen breaking --against main
    """
    from .breaking import REFUSED, BreakingRequest, find_breaking
    from .outcome import print_error_records, print_outcome

    _require(against)
    request = BreakingRequest(
        project=find_project(config),
        against=against,
        to=to,
        allowed=tuple(allow or ()),
        fail_on=tuple(fail_on or REFUSED),
        baseline=baseline,
        journal=journal,
        format=format,
    )
    with print_error_records(format):
        raise typer.Exit(print_outcome(find_breaking(request)))


def diff(
    against: Against = "", to: To = "", format: DiffFormat = "markdown", config: ConfigFile = None
) -> None:
    """Print the changes in the contract of the tools as Markdown, or as a baseline.

    Example: toolgen diff --against main
    """
    from .breaking import BreakingRequest, show_difference
    from .outcome import print_outcome

    _require(against)
    request = BreakingRequest(project=find_project(config), against=against, to=to)
    raise typer.Exit(print_outcome(show_difference(request, is_baseline=format == "baseline")))


def _require(against: str) -> None:
    if not against:
        raise typer.BadParameter(
            "required: a catalog, a folder or a git revision such as main", param_hint="--against"
        )
