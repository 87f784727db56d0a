"""The entry of a tool in a catalog: its facts, and their JSON.

The generator fills the records from a design, the runtime from the specs of registered tools. The entries
fit `format-3.schema.json` beside this file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from toolgen.contract.names import MCP_HINTS, Hint
from toolgen.contract.record import frozen_record
from toolgen.shapes.keywords import Schema, any_of

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json
    from toolgen.contract.tool_facts import (
        Artifact,
        Bounded,
        Confirmation,
        Deprecation,
        Error,
        Icon,
        LongRunning,
        ToolFacts,
    )

DESIGN_ONLY: Final = (
    ("payload", "examples"),
    ("result", "examples"),
)
"""Paths of the keys that a runtime does not know: it knows at most the first example of a payload."""

OF_TOOLSET: Final = (("toolset_title",), ("toolset_instructions",), ("kind",), ("agent",))
"""Paths of the keys about the toolset instead of the tool."""

_RECEIVED: Final = "AsReceived"
"""Name of the type for responses that a lenient tool returns instead of its result."""
_NOT_DIGESTED: Final = (("digest",), ("bind_to",), ("assumed_destructive",), *DESIGN_ONLY, *OF_TOOLSET)


@frozen_record
class TypeRecord:
    """A type that crosses the JSON boundary."""

    name: str
    """The name of its class in the generated code."""
    schema: Schema
    examples: tuple[Json, ...] = ()
    noted_formats: tuple[str, ...] = ()
    """JSON Pointers of each `format` in the schema that no codec checks."""
    sensitive: tuple[str, ...] = ()
    """Places of values that observers must not see: JSON Pointers, with `*` for every item or key."""


@frozen_record
class ToolsetRecord:
    """The facts of a toolset that are written with each of its tools."""

    title: str = ""
    instructions: str = ""
    agent: str = ""
    """Id of the agent whose runs serve the calls; "" for tools with an executor."""


@frozen_record
class ToolRecord:
    """One tool. Empty values, None and False are omitted from the entry."""

    id: str
    """`service.toolset.tool`."""
    name: str
    """The wire name."""
    facts: ToolFacts
    payload: TypeRecord
    result: TypeRecord
    toolset: ToolsetRecord = ToolsetRecord()
    bounded: Bounded | None = None
    artifacts: tuple[Artifact[TypeRecord], ...] = ()
    errors: tuple[Error[TypeRecord], ...] = ()
    confirmation: Confirmation[TypeRecord] | None = None
    long_running: LongRunning[TypeRecord] | None = None
    injected: tuple[str, ...] = ()
    """JSON keys."""
    binding: tuple[str, str] | None = None
    """Service and method."""


@frozen_record
class NativeToolRecord:
    """One tool that the model's provider runs itself."""

    id: str
    """`service.toolset.kind`."""
    provider: str
    kind: str
    config: Mapping[str, Json]
    toolset: ToolsetRecord = ToolsetRecord()


_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(value: Json) -> str:
    """Return the canonical JSON text for digests: keys sorted, no spaces, ASCII, numbers as in Python."""
    return _canonical(value)


def tool_entry(of: ToolRecord) -> dict[str, Json]:
    """Return the entry of a tool, with its keys in the order of the file."""
    facts = of.facts
    hints: dict[str, Json] = {"call": facts.call_hint, "result": facts.result_hint}
    entry = _present(
        {
            **_head(of.id, of.name, of.toolset),
            "title": facts.title,
            "description": _description(facts),
            "icons": [_icon(icon) for icon in facts.icons],
            "deprecated": _deprecated(facts.deprecated),
            "tags": list(facts.tags),
            "kind": "agent" if of.toolset.agent else "function",
            "agent": of.toolset.agent or None,
            "annotations": _annotations(facts.annotations),
            "assumed_destructive": _assumes_destructive(facts.annotations) or None,
            "bounded": _bounded(of.bounded),
            "payload": type_entry(of.payload),
            "result": type_entry(of.result),
            "output": _output(of),
            "artifacts": [_artifact(artifact) for artifact in of.artifacts],
            "errors": [_error(error) for error in of.errors],
            "confirmation": confirmation_entry(of.confirmation),
            "long_running": _long_running(of.long_running),
            "timeout": facts.timeout,
            "sequential": facts.is_sequential or None,
            "sequential_by": facts.sequential_by or None,
            "terminal": facts.is_terminal or None,
            "bookkeeping": facts.is_bookkeeping or None,
            "needs": list(facts.needs),
            "lenient": facts.is_lenient or None,
            "instructions": facts.instructions or None,
            "result_reminder": facts.reminder or None,
            "hints": {key: text for key, text in hints.items() if text} or None,
            "inject": list(of.injected),
            "bind_to": {"service": of.binding[0], "method": of.binding[1]} if of.binding else None,
            "meta": dict(facts.meta) or None,
        }
    )
    return _with_digest(entry)


def native_entry(of: NativeToolRecord) -> dict[str, Json]:
    """Return the entry of a tool that the model's provider runs; it has no schemas."""
    facts: dict[str, Json] = {"kind": "native", "provider": of.provider, "config": dict(of.config)}
    return _with_digest(_present({**_head(of.id, of.kind, of.toolset), **facts}))


def sha256(text: str) -> str:
    """Return the digest of a canonical text: `sha256:` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def tool_digest(entry: Mapping[str, Json]) -> str:
    """Return the digest of a tool, which changes with every part of its entry that the runtime knows."""
    return sha256(canonical(digested(entry)))


def digested(entry: Mapping[str, Json]) -> dict[str, Json]:
    """Return the entry without the facts of the toolset, and without facts that only a design has."""
    return without(entry, _NOT_DIGESTED)


def without(entry: Mapping[str, Json], paths: Iterable[tuple[str, ...]]) -> dict[str, Json]:
    """Return the entry without the values at these paths."""
    left = dict(entry)
    for first, *rest in paths:
        inner = left.get(first)
        if not rest:
            left.pop(first, None)
        elif isinstance(inner, dict):
            left[first] = without(inner, [tuple(rest)])
    return left


def behaviour_hints(written: Mapping[Hint, bool]) -> dict[Hint, bool]:
    """Return all behaviour hints, with MCP's defaults for hints that the author did not set."""
    hints: dict[Hint, bool] = {"edit": False}
    hints.update((hint, default) for hint, (_, default) in MCP_HINTS.items())
    if written.get("read_only"):
        hints["destructive"] = False
    hints.update(written)
    return hints


def output_schema(result: TypeRecord, ack: TypeRecord | None, *, is_lenient: bool) -> Schema:
    """Return the schema of the immediate output: the result, an acknowledgement, or an unfit response."""
    schemas = {} if ack is None else {ack.name: ack.schema}
    schemas[result.name] = result.schema
    if is_lenient:
        description = "The response of the service as received, if it does not match its type."
        schemas[_RECEIVED] = {"description": description}
    return any_of(schemas)


def _head(id_: str, name: str, toolset: ToolsetRecord) -> dict[str, Json]:
    service, toolset_name, _ = id_.rsplit(".", 2)
    return {
        "id": id_,
        "name": name,
        "service": service,
        "toolset": toolset_name,
        "toolset_title": toolset.title or None,
        "toolset_instructions": toolset.instructions or None,
    }


def _present(facts: dict[str, Json]) -> dict[str, Json]:
    """Return the facts that are not empty."""
    return {key: value for key, value in facts.items() if value is not None and value != []}


def _with_digest(entry: dict[str, Json]) -> dict[str, Json]:
    return {**entry, "digest": tool_digest(entry)}


def _icon(of: Icon) -> Json:
    """Return an icon with MCP's names for its facts."""
    facts: dict[str, Json] = {"mimeType": of.mime_type, "sizes": list(of.sizes), "theme": of.theme}
    return {"src": of.src, **{key: value for key, value in facts.items() if value}}


def _description(of: ToolFacts) -> str:
    """Return the description for a model, with a sentence about the deprecation if there is one."""
    deprecated = of.deprecated
    return (
        of.description if deprecated is None else deprecated.added_to(of.description, deprecated.replacement)
    )


def _deprecated(of: Deprecation | None) -> Json:
    if of is None:
        return None
    return {"reason": of.reason, **({"replacement": of.replacement} if of.replacement else {})}


def _annotations(written: Mapping[Hint, bool]) -> Json:
    """Return MCP's hints, and `edit`, which is not MCP's, if the author set it."""
    hints = behaviour_hints(written)
    annotations: dict[str, Json] = {name: hints[hint] for hint, (name, _) in MCP_HINTS.items()}
    return {**annotations, "edit": written["edit"]} if "edit" in written else annotations


def _assumes_destructive(written: Mapping[Hint, bool]) -> bool:
    """Return whether `destructiveHint` is true only by default."""
    return "destructive" not in written and not written.get("read_only")


def _bounded(of: Bounded | None) -> Json:
    if of is None:
        return None
    cursors = {"cursor": of.cursor, "next_cursor": of.next_cursor}
    return {name: key for name, key in cursors.items() if key is not None}


def _output(of: ToolRecord) -> Json:
    """Return the schema of the immediate output, if it differs from the schema of the result."""
    ack, is_lenient = of.long_running.ack if of.long_running else None, of.facts.is_lenient
    return output_schema(of.result, ack, is_lenient=is_lenient) if ack or is_lenient else None


def _artifact(of: Artifact[TypeRecord]) -> Json:
    facts: dict[str, Json] = {"description": of.description, "view": of.view}
    facts["audience"] = of.audience if of.audience != "user" else None
    present = {key: value for key, value in facts.items() if value}
    return {"kind": of.kind, "name": of.type.name, **present, "schema": of.type.schema, **_places(of.type)}


def _error(of: Error[TypeRecord]) -> Json:
    facts: dict[str, Json] = {"name": of.name, "description": of.description}
    if of.type is not None:
        facts |= {"type": of.type.name, "schema": of.type.schema, **_places(of.type)}
    return {**facts, "retryable": True} if of.is_retryable else facts


def confirmation_entry(of: Confirmation[TypeRecord] | None) -> Json:
    """Return the entry about approval; None if no approval is required."""
    if of is None:
        return None
    when: dict[str, Json] = {name: list(values) for name, values in of.when.items()}
    facts: dict[str, Json] = {"hint": of.hint, "when": when, "grantable": of.grantable}
    return {**{key: value for key, value in facts.items() if value}, **_named({"payload": of.payload})}


def _long_running(of: LongRunning[TypeRecord] | None) -> Json:
    return None if of is None else _named({"ack": of.ack, "progress": of.progress})


def _named(types: Mapping[Literal["payload", "ack", "progress"], TypeRecord | None]) -> dict[str, Json]:
    return {key: type_entry(of) for key, of in types.items() if of is not None}


def type_entry(of: TypeRecord) -> dict[str, Json]:
    """Return the entry of a type."""
    examples: dict[str, Json] = {"examples": list(of.examples)} if of.examples else {}
    return {"name": of.name, "schema": of.schema, **_places(of), **examples}


def _places(of: TypeRecord) -> dict[str, Json]:
    places = {"noted_formats": of.noted_formats, "sensitive": of.sensitive}
    return {key: list(pointers) for key, pointers in places.items() if pointers}
