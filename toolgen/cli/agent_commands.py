"""The commands that talk to an agent: one turn for scripts, and a conversation."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .command_groups import Config, exit_after
from .config import find_project

_Model = Annotated[
    str,
    typer.Option(
        help="Model of the agents: demo, openai:gpt-5 or NAME@http://localhost:11434/v1.",
        metavar="NAME",
    ),
]


def run_turn(
    agent: Annotated[str, typer.Argument(help="Name or id of the agent.", metavar="AGENT")],
    message: Annotated[str, typer.Argument(help='Message to the agent; "-" reads it from stdin.')],
    model: _Model = "",
    session: Annotated[
        str, typer.Option(help="Session to continue; by default a new one.", metavar="ID")
    ] = "",
    file: Annotated[
        list[Path] | None, typer.Option(help="File to attach to the message; can be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the turn as one JSON object.")] = False,
    config: Config = None,
) -> None:
    """Run one turn of an agent and print its answer; exit 3 if it waits for a person.

    Example: toolgen run clerk "What is new?" --model demo
    """
    from .conversing import run_agent

    text = sys.stdin.read() if message == "-" else message
    turn = run_agent(
        find_project(config), agent, text, model=model, session=session, files=file or (), as_json=json
    )
    exit_after(turn)


def chat(
    agent: Annotated[
        str, typer.Argument(help="Name or id of the agent; by default the first.", metavar="AGENT")
    ] = "",
    model: _Model = "",
    session: Annotated[
        str, typer.Option(help="Session to continue; by default a new one.", metavar="ID")
    ] = "",
    config: Config = None,
) -> None:
    """Chat with an agent in the terminal, with streamed text, calls, artifacts, questions and approvals.

    Example: toolgen chat clerk --model demo
    """
    from .chat import chat as converse

    exit_after(converse(find_project(config), agent, model=model, session=session))
