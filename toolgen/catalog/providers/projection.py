"""The declaration of one tool to a provider, and the conversion of its arguments in both directions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from toolgen.contract.json_value import Json, compact
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.record import frozen_record

from .budgets import overspent
from .codecs import ArgumentCodec, JsonText, Wrapped, bounded, parsed
from .dialects import Dialect, dialect_named
from .losses import Loss
from .parts import JSON_OBJECT, NotStrictError, Schema
from .plain import plain
from .reading import readable
from .sentences import joined
from .structured import ARGUMENTS, Rewritten, rewritten

log = logger("toolgen.providers")

_MOST_CACHED: Final = 4096
_ENUM_SIZES: Final = (None, 250, 50, 0)
"""Maximum sizes of an enum that stays one, tried in this order until the tool's enums fit its budget."""
_MOST_EXAMPLES: Final = 5


@frozen_record
class Projection:
    """One tool in the dialect of a provider."""

    id: str = ""
    """The tool's own id; empty if it was projected by itself."""
    tool: str
    """The tool's own name."""
    name: str
    """The name that is sent to the provider."""
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments in the provider's keywords. It must not be changed."""
    dialect: Dialect
    is_strict: bool
    """Whether the request asks the provider to enforce the schema on the model."""
    losses: tuple[Loss, ...] = ()
    """Keywords that the provider's schema lacks, and the reason if the tool should be strict but is not."""
    examples: tuple[Json, ...] = ()
    """Example arguments in the form in which the model would send them."""
    codec: ArgumentCodec

    @property
    def declaration(self) -> dict[str, Any]:
        """The declaration of the tool in a request, with an explicit `strict`."""
        facts: dict[str, Any] = {"name": self.name, "description": self.description}
        schema = dict(self.schema)
        match self.dialect.envelope:
            case "chat":
                function = {**facts, "parameters": schema, "strict": self.is_strict}
                return {"type": "function", "function": function}
            case "responses":
                return {"type": "function", **facts, "parameters": schema, "strict": self.is_strict}
            case "messages":
                examples = {"input_examples": list(self.examples)} if self.examples else {}
                return {**facts, "input_schema": schema, "strict": self.is_strict, **examples}
            case "parameters":
                return {**facts, "parameters": schema} if schema["properties"] else facts
            case "parametersJsonSchema":
                return {**facts, "parametersJsonSchema": schema}

    def decode(self, arguments: str | bytes) -> bytes:
        """Return the arguments that a model sent as a document of the tool's own schema.

        Nothing is validated. Text that is not JSON, and values that do not match the provider's schema, stay
        unchanged, so that the tool's own validator rejects them.
        """
        try:
            sent = parsed(arguments)
            with bounded():
                decoded = self.codec.decode(sent)
            is_same = decoded is sent or compact(decoded) == compact(sent)
            return _bytes(arguments) if is_same else compact(decoded).encode()
        except (ValueError, RecursionError):
            return _bytes(arguments)

    def encode(self, document: str | bytes) -> bytes:
        """Return a document of the tool's own schema as the model would send it.

        Raises:
            ValueError: it is not JSON, or the provider's schema cannot express it.
        """
        with bounded():
            return compact(self.codec.encode(parsed(document))).encode()


def project(
    name: str, description: str, schema: Schema, dialect: str, *, examples: tuple[Json, ...] = ()
) -> Projection:
    """Return a tool in a dialect, strict if the dialect is and the tool can be.

    Equal tools are projected once in a process.

    Raises:
        ToolgenError: there is no such dialect.
    """
    target = dialect_named(dialect)
    try:
        text = compact([schema, list(examples)])
    except (TypeError, ValueError, RecursionError) as error:  # not JSON, or nested too deeply
        return _loose(name, description, target, str(error))
    return _projected(text, name, description, target.name)


@lru_cache(maxsize=_MOST_CACHED)
def _projected(text: str, name: str, description: str, dialect_name: str) -> Projection:
    """Return the projection of the schema and the examples in the text; the order of keys matters."""
    dialect = dialect_named(dialect_name)
    try:
        return _projection(text, name, description, dialect)
    except Exception as error:  # noqa: BLE001 - logged; the schema of one tool must not end the request with all others
        log_failure(log, error, "cannot convert the schema of the tool %r, which is a bug in toolgen", name)
        return _loose(name, description, dialect, f"{type(error).__name__}: {error}")


def _projection(text: str, name: str, description: str, dialect: Dialect) -> Projection:
    own, examples = json.loads(text)
    schema, unread = readable(own)
    losses: tuple[Loss, ...] = ()
    try:
        form = _strict(schema, dialect) if dialect.is_strict else plain(schema, dialect)
    except NotStrictError as error:
        losses = (Loss(path="", keyword="strict", action="not strict", detail=str(error)),)
        form = plain(schema, dialect_named(dialect.plain))
    return Projection(
        tool=name,
        name=name,
        description=joined(description, form.description),
        schema=form.schema,
        dialect=dialect,
        is_strict=dialect.is_strict and not losses,
        losses=(*losses, *unread, *form.losses),
        examples=tuple(_examples(form, examples)),
        codec=form.codec,
    )


def _loose(name: str, description: str, dialect: Dialect, why: str) -> Projection:
    """Return a tool whose arguments are sent as JSON text, independent of its schema."""
    wire: Schema = {
        "type": "object",
        "properties": {ARGUMENTS: {"type": "string", "description": JSON_OBJECT}},
        "required": [ARGUMENTS],
    }
    if "additionalProperties" in dialect.keywords:
        wire["additionalProperties"] = False
    return Projection(
        tool=name,
        name=name,
        description=description,
        schema=wire,
        dialect=dialect,
        is_strict=dialect.is_strict,
        losses=(Loss(path="", keyword="", action="as JSON text", detail=why),),
        codec=Wrapped(ARGUMENTS, JsonText({}, {})),
    )


def without_strict(projection: Projection, plain: Projection, why: str) -> Projection:
    """Return the projection of a tool that is not strict in a strict dialect, with the reason.

    `plain` is the same tool in the plain dialect.
    """
    loss = Loss(path="", keyword="strict", action="not strict", detail=why)
    return replace(plain, dialect=projection.dialect, is_strict=False, losses=(loss, *plain.losses))


def _strict(schema: Schema, dialect: Dialect) -> Rewritten:
    """Return the schema in a strict dialect; large enums become words if it would exceed its budget.

    Raises:
        NotStrictError: the dialect cannot express it, or it exceeds a budget of one tool.
    """
    why = ""
    for size in _ENUM_SIZES:
        form = rewritten(schema, dialect, size)
        why = overspent(form.schema, dialect.budget)
        if not why:
            return form
        if "enum" not in why and "characters" not in why:
            break
    raise NotStrictError(why)


def _examples(form: Rewritten, examples: list[Json]) -> list[Json]:
    sent = []
    for document in examples[:_MOST_EXAMPLES]:
        try:
            with bounded():
                sent.append(form.codec.encode(document))
        except ValueError:
            continue  # an example with keys that cannot be sent is useless
    return sent


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
