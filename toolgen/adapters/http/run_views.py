"""The record of a run, without sensitive values of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from toolgen.agents import RunArtifact
from toolgen.agents.output import artifact_of_run, output_of, readable
from toolgen.agents.planner.provider_facts import facts_document
from toolgen.calls.documents.types import ArtifactDocument
from toolgen.contract.json_value import Json
from toolgen.engines import RunStatus
from toolgen.runtime import Runtime
from toolgen.runtime.public_views import shown_run

from .call_views import artifact_record, spec_of
from .records import Run, Suspension
from .wait_views import session_of


def run_record(
    runtime: Runtime,
    status: RunStatus,
    *,
    waits: Sequence[Suspension] = (),
    pending: Sequence[Suspension] = (),
    unknown: Sequence[str] = (),
    artifacts: Sequence[RunArtifact] | None = None,
) -> Run:
    """Return the record of a run for clients; `artifacts` are the artifacts so far, None in lists."""
    shown = shown_run(runtime, {"input": status.input, "output": status.output, "error": status.error})
    seen = replace(status, input=shown["input"], output=shown["output"], error=str(shown["error"]))
    facts = _of_agent(runtime, seen, artifacts) or _of_call(seen) or {"kind": "other"}
    head: dict[str, object] = {"id": status.run_id, "kind": facts.pop("kind"), "status": status.state}
    optional: dict[str, object] = {
        "session_id": session_of(status),
        "error": seen.error,
        **facts,
        "suspensions": list(waits),
        "pending": list(pending),
        "children": list(status.children),
        "unknown_calls": list(unknown),
    }
    return cast(
        Run, head | {key: value for key, value in optional.items() if value not in (None, "", [], {})}
    )


def _of_call(status: RunStatus) -> dict[str, Json] | None:
    """Return the facts of a call's run; None for other runs."""
    output: Any = status.output if isinstance(status.output, dict) else {}
    match status.input:
        case {"call": {"tool": str(tool), "meta": dict(meta)}} | {
            "frozen": {"tool": str(tool), "meta": dict(meta)}
        }:
            asked_by: Json = meta.get("requested_by", "")
            facts = {"kind": "call", "tool": tool, "requested_by": asked_by}
            return {**facts, "call_status": output.get("status", "")}
        case _:
            return None


def _of_agent(
    runtime: Runtime, status: RunStatus, artifacts: Sequence[RunArtifact] | None
) -> dict[str, object] | None:
    """Return the facts of an agent's run; None for other runs."""
    run_input: Any = status.input
    if not isinstance(run_input, dict) or "facts" not in run_input or "frozen" in run_input:
        return None
    run_facts, listed = run_input["facts"], readable(status)
    facts: dict[str, Any] = {
        "kind": "agent",
        "agent": run_facts.get("agent", ""),
        "turn_id": run_facts.get("turn_id", ""),
        "requested_by": run_facts.get("requested_by", ""),
        "parent_run_id": (run_facts.get("parent") or {}).get("run_id", ""),
        "message": run_input.get("message", ""),
    }
    if listed is None:
        return facts
    output = output_of(listed, artifacts=artifacts or ())
    facts |= {
        "agent": output.agent,
        "text": output.text,
        "result": output.result,
        "provider": None if output.provider is None else facts_document(output.provider),
        "stop_reason": output.stop,
        "error": output.error,
        "tool_calls": output.tool_calls or None,
    }
    if status.is_over and output.stop:
        spent = output.telemetry
        facts["usage"] = {
            **({"model": spent.model} if spent.model else {}),
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "duration_s": spent.duration_s,
        }
    if artifacts is not None:
        facts["artifacts"] = [_artifact(runtime, artifact) for artifact in output.artifacts]
    return facts


def _artifact(runtime: Runtime, artifact: RunArtifact) -> ArtifactDocument:
    spec = spec_of(runtime, artifact.tool)
    kind = None if spec is None else spec.artifacts.get(artifact.kind)
    view = None if kind is None else kind.view
    return artifact_record(artifact_of_run(artifact), view)
