"""The output of a run for its clients, with the artifacts of the run and of its child runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, replace
from typing import Any, Final, Literal

from toolgen.calls.documents.results import ref_document, ref_of
from toolgen.calls.documents.types import ArtifactDocument
from toolgen.calls.results import Artifact, ArtifactRef, Suspended, Telemetry
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record, record
from toolgen.engines import Engine, RunState, RunStatus, UnknownRunError
from toolgen.shapes.issues import short
from toolgen.waiting.call_results import stored_artifact

from .loop.documents import StopReason, as_plain_json
from .planner.provider_facts import ProviderFacts, facts_of

_LONGEST: Final = 200
"""Maximum number of characters of a name that may be forged."""
_DEFAULT_FACTS: Final[dict[str, Any]] = {
    "token": "",
    "tool": "",
    "question": "",
    "preview": "",
    "answer_schema": {},
    "expires_at": 0.0,
}
"""Default facts of a wait whose document does not contain them."""


@record
class RunArtifact(ArtifactRef):
    """An artifact of a call within the run or a child run: its reference, and the ID of its call."""

    tool: str
    tool_call_id: str


def run_artifact(document: Mapping[str, Any]) -> RunArtifact:
    """Return an artifact of a run by its `ArtifactDocument`, with the id of its call."""
    ref = ref_of(document)
    facts = {name.name: getattr(ref, name.name) for name in fields(ArtifactRef)}
    return RunArtifact(**facts, tool=document["tool"], tool_call_id=document["tool_call_id"])


def artifact_of_run(artifact: RunArtifact) -> ArtifactDocument:
    """Return the document of an artifact of a run."""
    return {**ref_document(artifact, artifact.tool), "tool_call_id": artifact.tool_call_id}


@frozen_record
class RunOutput:
    """The state of a run, and its result when it is over."""

    run_id: str
    agent: str
    """ID of the agent that answered; after a hand-over, the agent that took over."""
    session_id: str
    turn_id: str
    status: RunState
    text: str = ""
    """The answer as text; "" if the run has none yet, failed or was canceled."""
    result: Json = None
    """The typed answer; None if the run ends with text."""
    stop: StopReason | Literal[""] = ""
    is_truncated: bool = False
    """Whether the model reached its token limit, so that the text is incomplete."""
    provider: ProviderFacts | None = None
    """Facts of the model's provider about the answer, without `grounding`; None if there are none."""
    error: str = ""
    """Reason for the failure or cancellation of the run."""
    awaiting: tuple[Suspended, ...] = ()
    """Suspended calls and questions that the run waits for."""
    pending: tuple[Suspended, ...] = ()
    """Work that continues after the run: `Runtime.suspensions.answer` ends it, and opens a new turn."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    """Model usage of the run and its children, and the seconds from its start to its end, waiting included.
    All values are 0 until the run has ended by itself; `usage` events report what was spent so far.
    """
    tool_calls: int = 0
    """Number of calls, including calls of the runs that answered them; 0 until the run ends by itself.

    It stays 0 if the run is canceled.
    """
    children_count: int = 0
    """Number of runs that answered its calls, counted as `tool_calls`."""
    artifacts: tuple[RunArtifact, ...] = ()
    """Artifacts of the calls that have ended, its own and those of its child runs.

    While a run is in progress, and after it was canceled, they come from its log: its own first, and large
    data only by `uri`; `Agents.list_runs` leaves them out then.
    """


class RunFailedError(ToolgenError):
    """A run of `one_shot` has no answer; `output` is its output."""

    def __init__(self, output: RunOutput) -> None:
        how = "failed" if output.status == "failed" else "was canceled"
        super().__init__(f"the run {output.run_id} {how}{f': {output.error}' if output.error else ''}")
        self.output = output


_OTHER_SHAPE: Final = "its stored output does not have the shape that toolgen writes"


def status_of(status: RunStatus) -> RunStatus:
    """Return the status of an agent's run for its clients: failed if the run ended with a failure."""
    document: Any = status.output if status.state == "completed" else None
    if document is None or not document["failure"]:
        return status
    return replace(status, state="failed", error=document["failure"]["message"])


def readable(status: RunStatus) -> RunStatus | None:
    """Return the status of an agent's run for a list; failed if its stored output has an unknown shape.

    None if its facts have an unknown shape too.
    """
    document: Any = status.output if status.state == "completed" else {"pending": ()}
    try:
        output_of(status)
        [(wait["run_id"], wait["op"], wait["frozen"]) for wait in document["pending"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        if status.output is None:
            return None
        return readable(replace(status, state="failed", output=None, error=_OTHER_SHAPE))
    return status


def output_of(
    status: RunStatus,
    *,
    awaiting: Iterable[Suspended] = (),
    pending: Iterable[Suspended] = (),
    artifacts: Iterable[RunArtifact] = (),
) -> RunOutput:
    """Return the output of a run from its status; `artifacts` are used if the run returned none."""
    run_input: Any = status.input
    facts = run_input["facts"]
    document: Any = status.output if status.state == "completed" else None
    if document is None:
        return RunOutput(
            run_id=status.run_id,
            agent=facts["agent"],
            session_id=facts["session_id"],
            turn_id=facts["turn_id"],
            status=status.state,
            error=status.error,
            awaiting=tuple(awaiting),
            artifacts=tuple(artifacts),
        )
    seen = status_of(status)
    return RunOutput(
        run_id=status.run_id,
        agent=document["agent"],
        session_id=facts["session_id"],
        turn_id=facts["turn_id"],
        status=seen.state,
        text=document["text"],
        result=document["result"],
        stop=document["stop"],
        is_truncated=document.get("is_truncated", False),
        provider=facts_of(document["provider"]) if "provider" in document else None,
        error=seen.error,
        telemetry=replace(telemetry_of(document["usage"]), duration_s=document.get("duration_s", 0.0)),
        tool_calls=document["tool_calls"],
        children_count=document["children"],
        pending=tuple(pending),
        artifacts=tuple(map(run_artifact, document["artifacts"])),
    )


def without_tokens(output: RunOutput) -> RunOutput:
    """Return the output without tokens, for readers that only know the run ID."""
    return replace(
        output,
        awaiting=tuple(replace(wait, token="") for wait in output.awaiting),
        pending=tuple(replace(wait, token="") for wait in output.pending),
    )


def awaiting_of(run_id: str, about: Json) -> Suspended:
    """Return a wait of a run, from the document in its status."""
    facts: Any = about
    named = {field.name: facts[field.name] for field in fields(Suspended) if field.name in facts}
    return Suspended(**{**_DEFAULT_FACTS, **named, "run_id": run_id})


def awaiting_unverified(run_id: str, kind: Literal["unsealed", "tampered"], about: Any) -> Suspended:
    """Return a call whose record could not be verified, for people; its own facts may be forged."""
    record = about["frozen"]
    facts = record if isinstance(record, dict) else {}
    id_, tool = (short(str(facts.get(name, "")), _LONGEST) for name in ("id", "tool"))
    return Suspended(**{**_DEFAULT_FACTS, "run_id": run_id, "id": id_, "kind": kind, "tool": tool})


def telemetry_of(usage: Iterable[Mapping[str, Any]]) -> Telemetry:
    """Return the sum of model usages; the model is the last one."""
    spent = list(usage)
    return Telemetry(
        model=spent[-1]["model"] if spent else "",
        input_tokens=sum(request["input_tokens"] for request in spent),
        output_tokens=sum(request["output_tokens"] for request in spent),
    )


async def artifacts_so_far(engine: Engine, status: RunStatus) -> list[RunArtifact]:
    """Return the artifacts of the calls that have ended, from the log of the run.

    The run's own artifacts come first, in the order in which its calls ended, then the artifacts of each
    child run.
    """
    artifacts = []
    async for _, event in engine.events(status.run_id, follow=False):
        document: Any = event
        if document["type"] == "tool_end":
            call = {"tool": document["tool"], "tool_call_id": document["tool_call_id"]}
            artifacts += [run_artifact({**ref, **call}) for ref in document.get("artifacts", ())]
    for child in status.children:
        artifacts += await artifacts_so_far(engine, await engine.status(child))
    return artifacts


async def documents_so_far(engine: Engine, run_id: str) -> list[Json]:
    """Return the artifacts of the calls that have ended, as the JSON of a run's result.

    A run that could not begin has none.
    """
    try:
        status = await engine.status(run_id)
    except UnknownRunError:
        return []
    return [as_plain_json(artifact_of_run(each)) for each in await artifacts_so_far(engine, status)]


async def child_artifacts(
    documents: Iterable[Any], tool_of: Callable[[str], RegisteredTool | None], services: RuntimeServices
) -> tuple[Artifact, ...]:
    """Return the artifacts of a run and its children as typed `Artifact`s.

    Artifacts are left out if their tool no longer exists or their data was not stored.
    """
    artifacts = [
        await stored_artifact(document, tool_of(document["tool"]), services) for document in documents
    ]
    return tuple([artifact for artifact in artifacts if artifact is not None])
