"""Files for the model of an agent: files from people, and artifacts whose design offers them to models.

The conversation stores links. Each planning attaches the files of user messages, newest first, and the files
that the tool `load_artifacts` loaded since the previous planning. File contents are never stored in the
conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import Field
from pydantic_core import from_json, to_json

from toolgen.calls.content import ResourceContent, TextContent
from toolgen.calls.context import ToolContext
from toolgen.calls.errors import ToolError
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.provided import StoredArtifact
from toolgen.calls.sensitive import is_for_model
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.toolsets.directory import Directory
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from ..host import AgentHost
from ..loop.documents import PlanArgument, RunFacts, StepCall
from ..loop.limits import is_allowed
from ..planner.messages import Message, ToolAnswer, ToolMessage, UserMessage
from ..planner.planner import PlanInput
from .call_records import FOR_MODEL

_NAME: Final = "load_artifacts"
_TOOLSET: Final = "toolgen.artifacts"
_ID: Final = f"{_TOOLSET}.{_NAME}"
_DESCRIPTION: Final = (
    "Load files of this conversation by name. The content is shown once, right after the "
    "call; call this tool again when you need a file again."
)
_MOST_LISTED: Final = 50
"""Maximum number of files listed for the model; the newest are listed."""
_NOT_ATTACHED: Final = f"It is not shown here; {_NAME} shows it."
_GONE: Final = "The file no longer exists."

_Link = Mapping[str, Any]


@frozen_record(kw_only=False)
class LoadedFile:
    """A file that the model reads after the call."""

    name: str
    media_type: str
    size: int
    """Size in bytes."""
    uri: str


class AttachedFiles:
    """Attaches files to plannings, and loads the files that a model requests."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._artifacts = host.tools.artifacts

    async def attach(
        self, plan_input: PlanInput, directory: Directory, argument: PlanArgument
    ) -> tuple[PlanInput, RegisteredTool | None]:
        """Return the planner's input with the files of its messages, and the tool that loads other files.

        The tool is None if there are no files, if the run must not call it, or if the agent has its own tool
        with this name.
        """
        links = {} if self._artifacts is None else _links(plan_input.messages)
        if not links:
            return plan_input, None
        budget = _Budget(self._host.tools.limits.attached_bytes)
        facts, messages = argument["facts"], list(plan_input.messages)
        has_own = _NAME in directory.by_name
        for place in reversed(range(len(messages))):
            message = messages[place]
            if isinstance(message, UserMessage) and message.content:
                blocks = [
                    await self._block(link, plan_input.run_id, facts, budget) for link in message.content
                ]
                messages[place] = replace(message, content=tuple(blocks))
            elif isinstance(message, ToolMessage) and not has_own and _is_newest(messages, place):
                messages[place] = await self._with_loaded(message, plan_input.run_id, facts, budget)
        is_free = not argument["closing"] and not argument["restrict_to_tool"]
        may_load = not has_own and is_free and is_allowed((), facts)
        if may_load:
            _list(links, messages)
        plan_input = replace(plan_input, messages=tuple(messages))
        if not may_load:
            return plan_input, None
        return replace(plan_input, tools=(*plan_input.tools, self.tool.spec)), self.tool

    def is_called(self, call: StepCall) -> bool:
        """Return whether a call is a call of `load_artifacts` that was offered when it was planned."""
        return call["tool"] == _ID and call["name"] == _NAME

    @cached_property
    def tool(self) -> RegisteredTool:
        """The tool, created when it is first offered."""
        bound = func_tool(
            self._load,
            name=_NAME,
            toolset=_TOOLSET,
            description=_DESCRIPTION,
            annotations={"read_only": True},
        )
        return RegisteredTool(
            bound.spec, bound.execute, raw=False, toolset=_TOOLSET, options=self._host.options
        )

    async def _load(
        self,
        ctx: ToolContext,
        names: Annotated[list[str], Field(min_length=1, description="Names of files in the list.")],
    ) -> list[LoadedFile]:
        meta = ctx.meta
        facts = self._host.events.facts.get(meta.run_id)
        links = {} if facts is None else await self._all_links(meta.run_id, facts)
        loaded = []
        for name in dict.fromkeys(names):
            link = links.get(name)
            if link is None or facts is None or await self._read(link["uri"], meta.run_id, facts) is None:
                raise ToolError(f"no file is named {name!r}; the files are: {', '.join(links) or 'none'}")
            loaded.append(LoadedFile(name, link.get("mimeType", ""), link.get("size", 0), link["uri"]))
        size, most = sum(file.size for file in loaded), self._host.tools.limits.attached_bytes
        if size > most:
            raise ToolError(f"the files have {size} bytes in total; load at most {most} at once")
        return loaded

    async def _all_links(self, run_id: str, facts: RunFacts) -> dict[str, _Link]:
        """Return the links of the whole conversation, including turns that the history policy hides."""
        transcripts = self._host.transcripts
        messages = list(await transcripts.of_conversation(facts))
        for before in (*facts.get("history_run_ids", ()), run_id):
            messages += await transcripts.of_run(before)
        return _links(messages)

    async def _with_loaded(
        self, message: ToolMessage, run_id: str, facts: RunFacts, budget: _Budget
    ) -> ToolMessage:
        """Return a batch of results with the content of the files that it loaded."""
        answers = []
        for answer in message.answers:
            blocks = [await self._block(link, run_id, facts, budget) for link in _loaded_links(answer)]
            answers.append(replace(answer, content=(*answer.content, *blocks)) if blocks else answer)
        return replace(message, answers=tuple(answers))

    async def _block(self, link: _Link, run_id: str, facts: RunFacts, budget: _Budget) -> dict[str, Json]:
        """Return a file with its data, or its link with the reason if the data cannot be attached."""
        unread: dict[str, Json] = {**link, "description": _NOT_ATTACHED}
        if not budget.has_room(link.get("size", 0)):
            return unread
        stored = await self._read(link["uri"], run_id, facts)
        if stored is None:
            return TextContent(text=f"{link['name']}: {_GONE}").as_json()
        if not budget.has_room(len(stored.data)):  # the size in the link may be wrong
            return unread
        budget.take(len(stored.data))
        return ResourceContent(
            uri=link["uri"],
            name=link["name"],
            media_type=stored.info.media_type,
            size=len(stored.data),
            data=stored.data,
        ).as_json()

    async def _read(self, uri: str, run_id: str, facts: RunFacts) -> StoredArtifact | None:
        """Return a file that belongs to the run's conversation and is meant for models; None otherwise.

        The link itself is not trusted: a tool can return a link to a file that does not belong to its
        conversation.
        """
        if self._artifacts is None:
            return None
        root = run_id.partition("/")[0]
        stored = await self._artifacts.read(uri, facts["session_id"], root)
        if stored is None:
            return None
        about = stored.info.metadata
        if about.get("audience") == "model":
            return stored
        tool = self._host.find_tool(str(about.get("tool", "")), run_id)
        is_offered = tool is not None and is_for_model(tool.spec, str(about.get("kind", "")))
        return stored if is_offered else None


class _Budget:
    """Number of bytes that a planning can still attach."""

    def __init__(self, most: int) -> None:
        self._left = most

    def has_room(self, size: int) -> bool:
        return size <= self._left

    def take(self, size: int) -> None:
        self._left -= size


def _is_newest(messages: Sequence[Message], place: int) -> bool:
    """Return whether only user messages follow the results of a batch."""
    return all(isinstance(message, UserMessage) for message in messages[place + 1 :])


def _links(messages: Sequence[Message]) -> dict[str, _Link]:
    """Return the links to files in messages by name, oldest first; the newest link wins for each name."""
    links: dict[str, _Link] = {}
    for message in messages:
        for link in _links_of(message):
            links.pop(link["name"], None)
            links[link["name"]] = link
    return links


def _links_of(message: Message) -> Iterator[_Link]:
    if isinstance(message, UserMessage):
        yield from message.content
    elif isinstance(message, ToolMessage):
        for answer in message.answers:
            yield from filter(_is_model_artifact, answer.content)


def _is_model_artifact(block: object) -> bool:
    """Return whether a block is the link to an artifact for models, as added to the record of its call."""
    return isinstance(block, Mapping) and block.get("annotations") == FOR_MODEL


def _loaded_links(answer: ToolAnswer) -> Sequence[_Link]:
    """Return links to the files that a call of `load_artifacts` loaded; empty for any other call."""
    if answer.name != _NAME or answer.status != "ok":
        return ()
    match from_json(answer.text):
        case {"result": list() as files} | (list() as files):
            return [link for file in files if (link := _loaded_link(file)) is not None]
        case _:  # a hook replaced the result
            return ()


def _loaded_link(file: object) -> _Link | None:
    """Return the link to a file of a result; None if a hook or another tool returned something else."""
    match file:
        case {"name": str(name), "uri": str(uri), "size": int(size)}:
            return {"name": name, "uri": uri, "size": size}
        case _:
            return None


def _list(links: Mapping[str, _Link], messages: list[Message]) -> None:
    """Add the list of files to the newest message of a person or an agent; the names are untrusted."""
    newest = list(links.values())[-_MOST_LISTED:]
    lines = [
        f"- {to_json(link['name']).decode()} ({link.get('mimeType', '')}, {link.get('size', 0)} bytes)"
        for link in newest
    ]
    more = f", the newest of {len(links)}" if len(links) > len(newest) else ""
    text = "\n".join([f"[Files of this conversation for {_NAME}{more}:", *lines, "]"])
    for place in reversed(range(len(messages))):
        message = messages[place]
        if isinstance(message, UserMessage) and message.source != "runtime":
            messages[place] = replace(message, content=(*message.content, TextContent(text=text).as_json()))
            return
