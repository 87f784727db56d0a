"""What a client may say of a run that it starts, and the facts that the run has of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from toolgen.contract.json_value import Json
from toolgen.contract.policy import RunPolicy

from .loop.documents import LOOP_VERSION, Parent, RunFacts


class RunOptions(TypedDict, total=False):
    """Arguments of `AgentClient.start`, which says what they mean; each may be left out."""

    run_id: str
    labels: Mapping[str, str] | None
    requested_by: str
    policy: RunPolicy | None
    allowed_tags: Sequence[str]
    denied_tags: Sequence[str]
    restrict_to_tool: str


def new_facts(
    agent: str,
    policy: dict[str, Json],
    options: RunOptions,
    *,
    session_id: str,
    turn_id: str,
    parent: Parent | None = None,
) -> RunFacts:
    """Return the facts of a run that no loop starts; `parent` is the direct call that it answers."""
    facts: RunFacts = {
        "version": LOOP_VERSION,
        "agent": agent,
        "session_id": session_id,
        "turn_id": turn_id,
        "labels": dict(options.get("labels") or {}),
        "policy": policy,
        "allowed_tags": list(options.get("allowed_tags", ())),
        "denied_tags": list(options.get("denied_tags", ())),
        "restrict_to_tool": options.get("restrict_to_tool", ""),
        "parent": parent,
        "depth": 0,
        "in_conversation": bool(session_id) and parent is None,
    }
    if requested_by := options.get("requested_by"):
        facts["requested_by"] = requested_by
    return facts
