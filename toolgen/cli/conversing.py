"""Turns of an agent at the terminal: opens the agent, shows the events of a turn, and runs `toolgen run`."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from toolgen.agents import AgentClient, Agents, RunHandle, RunOutput, Upload
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable, printable_lines, visible, visible_lines
from toolgen.contract.record import frozen_record
from toolgen.engines import UnknownRunError
from toolgen.events import Event
from toolgen.runtime import Runtime, Suspended

from .attached import attached_file
from .config import Project
from .models import agent_named, require_server
from .runtime import NOT_OVER, UNANSWERABLE, denial_hint, is_durable, project_runtime
from .terminal import show_line, user_name

_LONGEST: Final = 160
"""Maximum number of characters of a line about a call."""


@frozen_record
class OpenAgent:
    """An agent of an open runtime, to talk to."""

    runtime: Runtime
    agents: Agents
    client: AgentClient

    async def start(self, message: str, session: str, files: Sequence[Upload] = ()) -> RunHandle:
        """Start a turn, which this process executes if no worker does."""
        handle = await self.client.start(message, session_id=session, requested_by=user_name(), files=files)
        await self.runtime.runs.start(handle.run_id)
        return handle

    async def waiting_turn(self, session: str) -> RunHandle | None:
        """Return the turn of the agent in a session that waits for an answer; None if there is none."""
        runs = self.runtime.runs
        for status in await runs.list(state="waiting", session=session):
            handle = self.client.handle(status.run_id, session_id=session)
            try:
                await handle.output()
            except UnknownRunError:  # the run belongs to another agent or to a call
                continue
            await runs.start(status.run_id)
            return handle
        return None

    def set_model(self, model: str) -> None:
        """Use a model for all agents.

        Raises:
            ToolgenError: the name is unknown, or a package, a key or the server of the model is missing.
        """
        require_server(model)
        for agent in self.agents.list():
            self.agents.override_planner(agent, model)
        self.agents.ready_planners()


@asynccontextmanager
async def open_agent(project: Project, agent: str, model: str) -> AsyncIterator[OpenAgent]:
    """Open the runtime of a project, and yield one of its agents; for "", the first one.

    Raises:
        ToolgenError: the runtime has no agents, none has the name, or its model is not available.
    """
    async with project_runtime(project) as runtime:
        agents = runtime.assembly.joined
        if not isinstance(agents, Agents) or not agents.list():
            raise ToolgenError(
                "the configured runtime has no agent",
                hint="put an Agent(…) into the design, and call its generated `register` in `runtime`",
            )
        name = agent_named(agents, agent) if agent else agents.list()[0]
        opened = OpenAgent(runtime=runtime, agents=agents, client=agents.client(name))
        if model:
            opened.set_model(model)
        elif named := project.agents.get(name) or project.agents.get(name.rpartition(".")[2]):
            require_server(named)
        _require_models(agents)
        runtime.runs.run_as_client()
        async with runtime:
            yield opened


def _require_models(agents: Agents) -> None:
    lacking = [agent for agent in agents.list() if not agents.has_planner(agent)]
    if lacking:
        name = lacking[0].rpartition(".")[2]
        raise ToolgenError(
            f"the agent {lacking[0]} has no model",
            hint=f'add --model demo, which needs no key, or {name} = "openai:gpt-5" to [tool.toolgen.agents]',
        )
    agents.ready_planners()


@dataclass(slots=True, kw_only=True)
class TurnView:
    """Shows the events of the turns of a session as they arrive."""

    session: str
    runtime: Runtime
    write: Callable[[str], None]
    """Function that prints text, including line ends."""
    streams_text: bool
    """Whether parts of the agent's answer are shown as they arrive."""
    artifacts: Callable[[Event], None] | None = None
    """Function that is called with each `tool_end` event that has artifacts."""
    seen: list[Event] = field(default_factory=list)
    """Events of the session that were received so far."""
    _is_in_text: bool = False

    def show(self, event: Event) -> None:
        if event.session_id != self.session:
            return
        if event.type == "assistant_reply":
            self._show_text(event.text, is_partial=event.is_partial)
            if event.is_partial:
                return
        self.seen.append(event)
        for line in _lines(event):
            self._end_text()
            self.write(f"{visible(line)}\n")
        if event.type != "tool_end":
            return
        if event.error and (hint := denial_hint(self.runtime, event.tool, event.error["message"])):
            self.write(f"{hint}\n")
        if event.artifacts and self.artifacts is not None:
            self.artifacts(event)

    def end(self) -> None:
        """End the line of a text that was shown in pieces."""
        self._end_text()

    def _show_text(self, text: str, *, is_partial: bool) -> None:
        if not self.streams_text:
            return
        if is_partial:
            self._is_in_text = True
            self.write(printable_lines(text))
        elif self._is_in_text:
            self._end_text()
        elif text:
            self.write(f"{printable_lines(text)}\n")

    def _end_text(self) -> None:
        if self._is_in_text:
            self._is_in_text = False
            self.write("\n")


@asynccontextmanager
async def following(opened: OpenAgent, view: TurnView) -> AsyncIterator[None]:
    """Show the events of the runtime inside the block; a runtime without `Events` has none."""
    if opened.runtime.events is None:
        yield
        return
    async with opened.runtime.events.on(view.show):
        yield
        await asyncio.sleep(0)


def _lines(event: Event) -> list[str]:
    match event.type:
        case "tool_start":
            return [_short(f"  → {printable(event.name)} {_json(event.arguments)}")]
        case "tool_end" if event.status not in ("suspended", "pending"):
            message = event.display or (event.error["message"] if event.error else "")
            shown = printable(message) or _json(event.result)
            return [_short(f"  ← {event.tool.rpartition('.')[2]}: {event.status}, {shown}")]
        case "tool_update":
            percent = "" if event.fraction is None else f"{event.fraction:.0%} "
            shown = printable(event.message) or (_json(event.value) if event.number else "")
            return [_short(f"    {event.tool.rpartition('.')[2]}: {percent}{shown}")]
        case "agent_run_started":
            return [f"  ▸ {event.agent}"]
        case "plan_retry":
            return [_short(f"  the model is asked again: {printable(event.reason)}")]
        case "tool_authorization" if event.grant_id:
            return [f"  {printable(event.reason)}"]
        case "tool_authorization":
            why = f": {printable(event.reason)}" if event.reason else ""
            return [f"  {event.decision} by a {event.decided_by}{why}"]
        case _:
            return []


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


async def run_agent(
    project: Project,
    agent: str,
    message: str,
    *,
    model: str = "",
    session: str = "",
    files: Sequence[Path] = (),
    as_json: bool = False,
) -> int:
    """Run one turn, print its answer, and return the exit code: 3 if it waits for a person.

    Raises:
        ToolgenError: as `open_agent`, the session has another turn that is not over, or a file does not fit.
    """
    uploads = [attached_file(path) for path in files]
    session = session or f"session_{uuid.uuid4().hex[:12]}"
    async with open_agent(project, agent, model) as opened:
        runtime = opened.runtime
        view = TurnView(session=session, runtime=runtime, write=_to_stderr, streams_text=False)
        async with following(opened, view):
            with redirect_stdout(sys.stderr):  # output of hooks and executors is not part of the answer
                handle = await opened.start(message, session, uploads)
                output = await handle.settled()
    return show_turn(runtime, output, as_json=as_json)


def show_turn(runtime: Runtime, output: RunOutput, *, as_json: bool = False) -> int:
    """Print the answer of a turn and its questions; return the exit code, 3 if the turn has not ended."""
    if as_json:
        show_line(turn_record(output))
    elif output.text:
        print(printable_lines(output.text) if sys.stdout.isatty() else output.text)
    if output.error:
        print(printable(output.error), file=sys.stderr)
    for awaiting in output.awaiting:
        print(visible_lines(waiting_line(runtime, awaiting, output)), file=sys.stderr)
    return NOT_OVER if output.status in ("waiting", "running") else int(output.status != "completed")


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def waiting_line(runtime: Runtime, awaiting: Suspended, turn: RunOutput) -> str:
    """Return the question of a turn, with the command that answers it if that is possible."""
    chat = f"chat {turn.agent} --session {turn.session_id}"
    command = f"approve {awaiting.id}" if awaiting.token else chat
    answered = f"answer it with: toolgen {command}" if is_durable(runtime) else UNANSWERABLE
    return f"it waits for a {awaiting.kind}: {printable(awaiting.question)}\n{answered}"


def turn_record(output: RunOutput) -> dict[str, Json]:
    """Return a turn as JSON, with its questions but without their tokens."""
    return {
        "run": output.run_id,
        "session": output.session_id,
        "agent": output.agent,
        "status": output.status,
        "text": output.text,
        "result": output.result,
        "error": output.error,
        "awaiting": [
            {
                "id": awaiting.id,
                "kind": awaiting.kind,
                "tool": awaiting.tool,
                "question": awaiting.question,
                "answer_schema": dict(awaiting.answer_schema),
            }
            for awaiting in output.awaiting
        ],
        "tool_calls": output.tool_calls,
        "tokens": {
            "input": output.telemetry.input_tokens,
            "output": output.telemetry.output_tokens,
        },
    }
