"""The commands `toolgen breaking` and `toolgen diff`, and their options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .config import find_project

Against = Annotated[
    str,
    typer.Option(
        help="What was promised: a catalogue, a folder, a git revision, a lock, mcp:NAME or mcp:URL.",
        metavar="REF",
    ),
]
To = Annotated[
    str, typer.Option(help="What is promised now; by default the design of the project.", metavar="REF")
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="Let a change through: CODE@TOOL, CODE@TOOL:ARGUMENT, or weakened:PLACE for a weaker guard.",
        metavar="CHANGE",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        help="What is refused: weakened, callers, consumers, suspended_calls and undecided by default; "
        "generated_code, behaviour or texts.",
        metavar="KIND",
    ),
]
BaselineFile = Annotated[
    Path | None, typer.Option(help="Let the changes in this file through.", metavar="FILE")
]
Journal = Annotated[
    Path | None,
    typer.Option(help="A file of runs: what waits in it is held to the new contract.", metavar="FILE"),
]
Format = Annotated[
    Literal["text", "json", "github", "sarif"],
    typer.Option(help="How changes are printed; all but text go to stdout."),
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
    """Say what a change of the design breaks, and which guards it weakens; exit 1 if a change is refused.

    Such as: toolgen breaking --against main
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
    """Print what changed in the contract of the tools as sentences, in Markdown, or as a baseline.

    Such as: toolgen diff --against main
    """
    from .breaking import BreakingRequest, show_difference
    from .outcome import print_outcome

    _require(against)
    request = BreakingRequest(project=find_project(config), against=against, to=to)
    raise typer.Exit(print_outcome(show_difference(request, is_baseline=format == "baseline")))


def _require(against: str) -> None:
    if not against:
        raise typer.BadParameter(
            "it is missing: name a catalogue, a folder or a git revision such as main", param_hint="--against"
        )
