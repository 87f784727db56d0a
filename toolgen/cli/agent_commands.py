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
        help="What plans for the agents, as demo, openai:gpt-5 or NAME@http://localhost:11434/v1.",
        metavar="NAME",
    ),
]


def run_turn(
    agent: Annotated[str, typer.Argument(help="The agent, by its name or its id.", metavar="AGENT")],
    message: Annotated[str, typer.Argument(help='What is said to it; "-" reads it from stdin.')],
    model: _Model = "",
    session: Annotated[
        str, typer.Option(help="Conversation that goes on; by default a new one.", metavar="ID")
    ] = "",
    file: Annotated[
        list[Path] | None, typer.Option(help="A file that goes with the message; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the turn as one JSON object.")] = False,
    config: Config = None,
) -> None:
    """Do one turn of an agent, print its answer, and exit with 3 where it waits for a person.

    Such as: toolgen run clerk "What is new?" --model demo
    """
    from .conversing import run_agent

    text = sys.stdin.read() if message == "-" else message
    turn = run_agent(
        find_project(config), agent, text, model=model, session=session, files=file or (), as_json=json
    )
    exit_after(turn)


def chat(
    agent: Annotated[
        str, typer.Argument(help="The agent, by its name or its id; by default the first.", metavar="AGENT")
    ] = "",
    model: _Model = "",
    session: Annotated[
        str, typer.Option(help="Conversation that goes on; by default a new one.", metavar="ID")
    ] = "",
    config: Config = None,
) -> None:
    """Talk to an agent in the terminal: streamed text, calls, artifacts, questions and approvals.

    Such as: toolgen chat clerk --model demo
    """
    from .chat import chat as converse

    exit_after(converse(find_project(config), agent, model=model, session=session))
