"""The facts of runs and of their calls, and the only conversions between them.

No fact is lost in the conversions: an interface creates the `CallMeta` of a call, the run that answers the
call takes its facts from it, and the calls of that run take their facts from the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from toolgen.calls.call import CallMeta
from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy

from .loop.documents import LOOP_VERSION, Parent, RunFacts
from .uploads import Upload


def meta_of(run_id: str, facts: RunFacts, tool_call_id: str = "") -> CallMeta:
    """Return the facts of a call of a run."""
    parent = facts["parent"]
    return CallMeta(
        agent=facts["agent"],
        run_id=run_id,
        session_id=facts["session_id"],
        turn_id=facts["turn_id"],
        tool_call_id=tool_call_id,
        parent_tool_call_id=parent["tool_call_id"] if parent else "",
        labels=facts["labels"],
        requested_by=facts.get("requested_by", ""),
    )


def first_facts(agent: str, policy: dict[str, Json], meta: CallMeta, options: RunOptions) -> RunFacts:
    """Return the facts of a run that no call started: a run of a turn, or of a client without a session."""
    facts = _facts(agent, policy, meta)
    facts["allowed_tags"] = list(options.get("allowed_tags", ()))
    facts["denied_tags"] = list(options.get("denied_tags", ()))
    facts["restrict_to_tool"] = options.get("restrict_to_tool", "")
    facts["in_conversation"] = bool(meta.session_id)
    return facts


def called_facts(
    agent: str, policy: dict[str, Json], meta: CallMeta, tool: str, above: RunFacts | None
) -> RunFacts:
    """Return the facts of a run that answers a tool call.

    `above` are the facts of the run that made the call directly or within one of its tools; None if no run
    made it.
    """
    facts = _facts(agent, policy, meta, above)
    facts["parent"] = _parent(meta, tool)
    if (
        above is not None
        and above["session_id"] == meta.session_id
        and (conversation := conversation_of(above))
    ):
        facts["conversation"] = conversation
    return facts


def conversation_of(facts: RunFacts) -> str:
    """Return the agent whose conversation receives a run's later results; "" if there is none."""
    return facts["agent"] if facts["in_conversation"] else facts.get("conversation", "")


def handed_over_facts(agent: str, policy: dict[str, Json], run_id: str, above: RunFacts) -> RunFacts:
    """Return the facts of a run that takes the conversation over from another run."""
    meta = meta_of(run_id, above)
    facts = _facts(agent, policy, meta, above)
    facts["parent"] = _parent(meta, "")
    facts["in_conversation"] = above["in_conversation"]
    if not above["in_conversation"]:  # no session stores the messages
        facts["history_run_ids"] = [*above.get("history_run_ids", ()), run_id]
    return facts


def _facts(agent: str, policy: dict[str, Json], meta: CallMeta, above: RunFacts | None = None) -> RunFacts:
    """Return the facts that a run inherits from its call and from its parent run."""
    facts: RunFacts = {
        "version": LOOP_VERSION,
        "agent": agent,
        "session_id": meta.session_id,
        "turn_id": meta.turn_id,
        "labels": dict(meta.labels),
        "policy": policy,
        "allowed_tags": [] if above is None else above["allowed_tags"],
        "denied_tags": [] if above is None else above["denied_tags"],
        "restrict_to_tool": "",
        "parent": None,
        "depth": 0 if above is None else above["depth"] + 1,
        "in_conversation": False,
    }
    if meta.requested_by:
        facts["requested_by"] = meta.requested_by
    return facts


def _parent(meta: CallMeta, tool: str) -> Parent:
    return {
        "run_id": meta.run_id,
        "agent": meta.agent,
        "tool_call_id": meta.tool_call_id,
        "tool": tool,
    }


class RunOptions(TypedDict, total=False):
    """Arguments of `AgentClient.start`, which documents them; all are optional."""

    run_id: str
    labels: Mapping[str, str] | None
    requested_by: str
    policy: RunPolicy | None
    allowed_tags: Sequence[str]
    denied_tags: Sequence[str]
    restrict_to_tool: str
    files: Sequence[Upload]
