"""`toolgen chat`: a conversation with an agent in the terminal."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from toolgen.agents import BadFileError, RunHandle, Upload
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable, printable_lines, visible, visible_lines
from toolgen.events import Event, as_json
from toolgen.runtime import CallMeta, Runtime, Suspended
from toolgen.runtime.public_views import hiding_waiting
from toolgen.waiting import SuspensionError

from .artifact_text import artifact_text
from .attached import attached_file
from .call import describe_suspended
from .config import Project
from .conversing import OpenAgent, TurnView, following, open_agent
from .terminal import has_colours, typed_json, user_name

_HELP: Final = """\
/tools            list the tools that the model is offered
/model NAME       switch the model: demo, openai:gpt-5, NAME@http://localhost:11434/v1
/attach FILE      send a file with your next message: an image, a PDF or text
/events           print the events of this conversation, one JSON object per line
/replay           show the conversation again, since this command began
/session          print the session id; continue it later with: toolgen chat AGENT --session ID
/quit             end the chat; Ctrl-D does too"""

_DIM, _END = "\x1b[2m", "\x1b[0m"


async def chat(project: Project, agent: str, *, model: str = "", session: str = "") -> int:
    """Run the conversation until the person ends it, and return 0.

    Raises:
        ToolgenError: the project has no such agent, its model is not available, or a package is missing.
    """
    session = session or f"chat_{uuid.uuid4().hex[:12]}"
    lines = _typed() if sys.stdin.isatty() else _piped()
    async with open_agent(project, agent, model) as opened:
        chatting = _Chat(opened, session, lines)
        async with following(opened, chatting.view):
            await chatting.run()
    return 0


class _Chat:
    """One conversation between the person at the terminal and the agent."""

    def __init__(self, opened: OpenAgent, session: str, lines: AsyncIterator[str]) -> None:
        self._opened = opened
        self._session = session
        self._lines = lines
        self._files: list[Upload] = []
        """Files for the next message."""
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "/help": self._help,
            "/tools": self._tools,
            "/model": self._model,
            "/attach": self._attach,
            "/events": self._events,
            "/replay": self._replay,
            "/session": self._say_session,
        }
        self.view = TurnView(
            session=session,
            runtime=opened.runtime,
            write=_write,
            streams_text=True,
            artifacts=self._artifacts,
        )

    async def run(self) -> None:
        """Process each line until `/quit` or the end of the input."""
        _say(f"{self._opened.client.agent}, session {self._session}; /help lists the commands")
        if (waiting := await self._opened.waiting_turn(self._session)) is not None:
            await self._follow_turn(waiting)
        async for line in self._lines:
            word, _, rest = line.strip().partition(" ")
            if word == "/quit":
                return
            if word.startswith("/"):
                await self._commands.get(word, self._unknown)(rest.strip())
            elif word:
                await self._turn(line.strip())

    async def _turn(self, message: str) -> None:
        files, self._files = self._files, []
        try:
            handle = await self._opened.start(message, self._session, files)
        except ToolgenError as error:
            if not isinstance(error, BadFileError):
                self._files = files  # they are sent with the next message
            _say(f"error: {error}")
            return
        await self._follow_turn(handle)

    async def _follow_turn(self, handle: RunHandle) -> None:
        """Follow a turn to its end, and ask the person its questions."""
        while True:
            output = await handle.settled()
            await asyncio.sleep(0)  # let the view show the last events first
            self.view.end()
            if output.status != "waiting":
                break
            if not await self._ask_all(handle, output.awaiting):
                agent = self._opened.client.agent
                _say(f"the turn waits; continue it with: toolgen chat {agent} --session {self._session}")
                return
        if output.text and self._opened.runtime.events is None:
            _write(f"{printable_lines(output.text)}\n")
        if output.error:
            _say(printable(output.error))

    async def _ask_all(self, handle: RunHandle, awaiting: tuple[Suspended, ...]) -> bool:
        """Ask the person each question; return whether all were answered."""
        for question in awaiting:
            if question.kind == "credential":  # the chat would show the secret as it is typed
                _say(f"{printable(question.question)}\nenter it with: toolgen approve {question.id}")
                return False
            if question.kind in ("pending", "external", "unsealed", "tampered"):
                _say(f"the turn waits: {question.kind}: {printable(question.question or question.tool)}")
                return False
            if not await self._ask(handle, question):
                return False
        return True

    async def _ask(self, handle: RunHandle, awaiting: Suspended) -> bool:
        """Show a question and read the answer; return whether the person answered."""
        if awaiting.token:
            suspended = await self._opened.runtime.suspensions.show(awaiting.token)
            _say(describe_suspended(suspended))
        else:
            _say(printable(awaiting.question))
        is_yes_no = awaiting.kind == "confirmation"
        _say(_approval_prompt(awaiting) if is_yes_no else "your answer:")
        async for line in self._lines:
            try:
                answer = _approval(line, awaiting) if is_yes_no else _answer(line, awaiting.answer_schema)
                async with hiding_waiting(self._opened.runtime, awaiting.id):
                    await handle.answer(awaiting, answer, by=user_name())
            except (ValueError, SuspensionError) as error:
                _say(f"{error}; try again:")
                continue
            return True
        return False

    async def _help(self, _: str) -> None:
        _say(_HELP)

    async def _unknown(self, _: str) -> None:
        _say("unknown command; /help lists the commands")

    async def _tools(self, _: str) -> None:
        meta = CallMeta(session_id=self._session)
        for spec in (await self._opened.agents.tools(self._opened.client.agent, meta)).specs:
            _say(f"{printable(f'{spec.name}  {spec.description.partition(chr(10))[0]}')}")

    async def _model(self, name: str) -> None:
        try:
            self._opened.set_model(name)
        except ToolgenError as error:
            _say(f"error: {error}")
            return
        _say(f"{name} is now the model")

    async def _attach(self, path: str) -> None:
        try:
            file = attached_file(path)
        except ToolgenError as error:
            _say(f"error: {printable(str(error))}")
            return
        self._files.append(file)
        facts = f"({file.media_type}, {len(file.data):,} bytes)"
        _say(f"{printable(file.name)} {facts} will be sent with your next message")

    async def _events(self, _: str) -> None:
        for event in self.view.seen:
            _write(f"{visible(json.dumps(as_json(event), ensure_ascii=False))}\n")

    async def _replay(self, _: str) -> None:
        runtime = self._opened.runtime
        again = TurnView(session=self._session, runtime=runtime, write=_write, streams_text=True)
        for event in tuple(self.view.seen):
            if event.type == "run_started" and not event.parent_run_id:
                _say("—")
            again.show(event)

    async def _say_session(self, _: str) -> None:
        _say(self._session)

    def _artifacts(self, event: Event) -> None:
        assert event.type == "tool_end"
        views = _views_of(self._opened.runtime, event.tool)
        for artifact in event.artifacts:
            kind = artifact["kind"]
            data = json.dumps(artifact["data"]) if "data" in artifact else ""
            text = artifact_text(kind, views.get(kind, ""), data, artifact["size"])
            _write("".join(f"    {line}\n" for line in text.splitlines()))


def _views_of(runtime: Runtime, tool: str) -> dict[str, str]:
    """Return the views of the artifacts of a tool, by kind."""
    spec = next((spec for spec in runtime.tools.list() if spec.id == tool), None)
    return (
        {} if spec is None else {kind: str(artifact.view or "") for kind, artifact in spec.artifacts.items()}
    )


def _approval_prompt(awaiting: Suspended) -> str:
    """Return the prompt of an approval, with the further part that it can contain."""
    part = _further_part(awaiting)
    return f"[y/N], or y and the {part} as JSON, for example: y {{…}}" if part else "[y/N]"


def _further_part(awaiting: Suspended) -> str:
    """Return the part that can follow a yes: `payload`, `grant` or ""."""
    parts = awaiting.answer_schema.get("properties", {})
    return next((name for name in ("payload", "grant") if name in parts), "")


def _approval(line: str, awaiting: Suspended) -> Any:
    """Return the answer to a confirmation: an object for a suspended call, a boolean for a planner.

    Raises:
        ValueError: the text after the yes is not JSON.
    """
    word, _, further = line.strip().partition(" ")
    is_yes = word.lower() in ("y", "yes")
    if not awaiting.token:
        return is_yes
    part = _further_part(awaiting) or "payload"
    return {"approved": is_yes} | ({part: typed_json(further)} if is_yes and further.strip() else {})


def _answer(line: str, schema: Any) -> Any:
    """Return the answer in a line: a string if the schema allows only strings, otherwise its JSON.

    Raises:
        ValueError: the line is not JSON, and the answer is not a string.
    """
    if schema.get("type", "string") == "string":
        return line.strip()
    try:
        return typed_json(line)
    except ValueError as error:
        raise ValueError(
            f"the answer must be JSON that matches this schema: {json.dumps(dict(schema))} ({error})"
        ) from None


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(text: str) -> None:
    """Print a message of the command, with control characters escaped."""
    shown = visible_lines(text)
    _write(f"{_DIM}{shown}{_END}\n" if has_colours(sys.stdout) else f"{shown}\n")


async def _piped() -> AsyncIterator[str]:
    """Yield the lines of stdin, if it is not a terminal."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        yield line.rstrip("\n")


async def _typed() -> AsyncIterator[str]:
    """Yield the lines that a person types, with a history of this conversation; Ctrl-D and Ctrl-C end it.

    Raises:
        ToolgenError: the package for it is missing.
    """
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.patch_stdout import patch_stdout
    except ImportError:
        raise ToolgenError(
            "a conversation in the terminal needs prompt-toolkit", hint="pip install 'toolgen[chat]'"
        ) from None
    words = [line.split()[0] for line in _HELP.splitlines()]
    prompts: Any = PromptSession(completer=WordCompleter(words, sentence=True))
    while True:
        try:
            with patch_stdout(raw=True):
                yield await prompts.prompt_async("> ")
        except (EOFError, KeyboardInterrupt):
            return
