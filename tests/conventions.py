"""OpenTelemetry's semantic conventions for generative AI, as a table that spans are held against.

Kinds, names and what is required are those of `model/gen-ai/spans.yaml` in
open-telemetry/semantic-conventions-genai (in development); the names of attributes are those of the package
`opentelemetry-semantic-conventions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, server_attributes

from tests.otlp import ReceivedSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """What the conventions say of one operation."""

    kinds: frozenset[str]
    named_by: str
    """The attribute whose value stands after the operation in the name of a span."""
    required: frozenset[str]
    """Beside `gen_ai.operation.name`."""


TABLE = {
    # "gen_ai.invoke_agent.internal", and "….client" where it is remote; the provider is that of its planner.
    "invoke_agent": Convention(
        kinds=frozenset({"INTERNAL", "CLIENT"}),
        named_by="gen_ai.agent.name",
        required=frozenset({"gen_ai.agent.id", "gen_ai.agent.name"}),
    ),
    "plan": Convention(  # "gen_ai.plan.internal"
        kinds=frozenset({"INTERNAL"}),
        named_by="gen_ai.agent.name",
        required=frozenset({"gen_ai.agent.id", "gen_ai.agent.name"}),
    ),
    "execute_tool": Convention(  # "gen_ai.execute_tool.internal"
        kinds=frozenset({"INTERNAL"}),
        named_by="gen_ai.tool.name",
        required=frozenset({"gen_ai.tool.name", "gen_ai.tool.type"}),
    ),
    "chat": Convention(  # "gen_ai.inference.client"
        kinds=frozenset({"CLIENT"}),
        named_by="gen_ai.request.model",
        required=frozenset({"gen_ai.provider.name", "gen_ai.request.model"}),
    ),
}
_OWN = "toolgen."


def _names(module: ModuleType) -> set[str]:
    return {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}


ATTRIBUTES = _names(gen_ai_attributes) | _names(error_attributes) | _names(server_attributes)


def violations(span: ReceivedSpan) -> Iterator[str]:
    """Yield what of a span is not as the conventions have it."""
    row = TABLE.get(span.operation)
    if row is None:
        yield f"{span.name}: no operation {span.operation!r}"
        return
    if span.kind not in row.kinds:
        yield f"{span.name}: is {span.kind}, and not {sorted(row.kinds)}"
    if span.name != f"{span.operation} {span.attributes.get(row.named_by)}":
        yield f"{span.name}: is not named by {row.named_by}"
    for name in sorted(row.required - set(span.attributes)):
        yield f"{span.name}: lacks {name}"
    for name in sorted(set(span.attributes) - ATTRIBUTES):
        if not name.startswith(_OWN):
            yield f"{span.name}: the conventions have no {name}"
    if span.is_error != ("error.type" in span.attributes):
        yield f"{span.name}: error.type goes with the status"
