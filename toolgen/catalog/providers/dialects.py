"""The keywords and limits of each provider: one dated row for each way to declare a tool.

A row is data. If a source is unclear, the row has only what every known version of the API accepts. Providers
reject or ignore keywords outside of `keywords`, so these become words in the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Literal

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

Envelope = Literal["chat", "responses", "messages", "parameters", "parametersJsonSchema"]
"""Form of a declaration: OpenAI's two APIs, Anthropic's messages, the two keys of Gemini."""
Kind = Literal["string", "integer", "number", "boolean"]

_NAME: Final = r"[a-zA-Z0-9_-]{1,64}"


@frozen_record
class SchemaBudget:
    """Maximum values for one tool, or for all strict tools of a request together; None is no limit."""

    object_levels: int | None = None
    """Maximum nesting depth of objects, including the arguments; each part of `$defs` counts separately."""
    properties: int | None = None
    enum_values: int | None = None
    """Maximum number of values in all enums of a tool."""
    enum_size: int | None = None
    """Maximum number of values in one enum."""
    enum_characters: int | None = None
    """Maximum number of characters in one enum with more than 250 texts."""
    characters: int | None = None
    """Maximum number of characters in all names, enums and constants of a tool."""
    min_items: int | None = None
    """Largest allowed `minItems`."""
    repetitions: int | None = None
    """Largest allowed count in the braces of a pattern."""
    nodes: int = 20_000
    """Maximum number of nodes in a schema whose references are expanded."""
    tools: int | None = None
    """Maximum number of strict tools in a request; the next two apply to a request, too."""
    optional: int | None = None
    unions: int | None = None


@frozen_record
class Dialect:
    """One way to declare a tool to a provider."""

    name: str
    source: str
    date: str
    """Date at which the source was read (ISO 8601)."""
    envelope: Envelope
    tool_name: str = _NAME
    """Regular expression for the whole name, which has at most 64 characters."""
    property_name: str = ""
    """Regular expression for the whole key; empty if any key is accepted."""
    plain: str = ""
    """Name of the dialect for tools that cannot be strict; only strict dialects have one."""
    is_structured: bool = False
    """Whether schemas are rewritten; otherwise only parts that would be rejected are."""
    keywords: frozenset[str] = frozenset()
    """The keywords that a rewritten schema can have."""
    formats: frozenset[str] = frozenset()
    enum_kinds: frozenset[Kind] = frozenset(("string", "integer", "number", "boolean"))
    needs_all_required: bool = False
    """Whether optional properties are required, and null means absent."""
    has_maps: bool = False
    has_untyped: bool = False
    has_recursion: bool = True
    has_nullable: bool = False
    """Whether `nullable: true` replaces the type "null"."""
    has_backreferences: bool = True
    """Whether patterns can have back-references, and word boundaries."""
    has_exact_enums: bool = True
    """Whether models preserve the case of enum values."""
    budget: SchemaBudget = SchemaBudget()

    @property
    def is_strict(self) -> bool:
        """Whether the provider can enforce the schema on the model."""
        return bool(self.plain)


_COMMON: Final = frozenset(
    "type properties required additionalProperties items enum const anyOf $ref $defs description "
    "pattern format minItems".split()
)
_STRING_FORMATS: Final = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())

_OPENAI: Final = Dialect(
    name="openai",
    source="OpenAI API reference, function calling; openai-python 3.52 FunctionDefinition",
    date="2026-11-20",
    envelope="chat",
)
_OPENAI_STRICT: Final = Dialect(
    name="openai-strict",
    source="OpenAI guide, structured outputs, supported schemas",
    date="2026-11-20",
    envelope="chat",
    plain="openai",
    is_structured=True,
    keywords=_COMMON
    | frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf maxItems".split()),
    formats=_STRING_FORMATS,
    needs_all_required=True,
    budget=SchemaBudget(
        object_levels=10, properties=5000, enum_values=1000, enum_characters=15_000, characters=120_000
    ),
)
_ANTHROPIC: Final = Dialect(
    name="anthropic",
    source="Claude docs, define tools; anthropic-python 2.11 ToolParam",
    date="2026-11-20",
    envelope="messages",
    property_name=r"[a-zA-Z0-9_.-]{1,64}",
    keywords=_COMMON
    | frozenset(
        "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf maxItems minLength maxLength "
        "uniqueItems default prefixItems minProperties maxProperties".split()
    ),
    formats=_STRING_FORMATS | {"uri"},
    has_maps=True,
    has_untyped=True,
)
_ANTHROPIC_STRICT: Final = Dialect(
    name="anthropic-strict",
    source="Claude docs, structured outputs, JSON Schema limitations and schema complexity limits",
    date="2026-11-20",
    envelope="messages",
    plain="anthropic",
    is_structured=True,
    property_name=r"[a-zA-Z0-9_.-]{1,64}",
    keywords=_COMMON,
    formats=_STRING_FORMATS | {"uri"},
    has_recursion=False,
    has_backreferences=False,
    has_exact_enums=False,
    budget=SchemaBudget(min_items=1, repetitions=100, tools=20, optional=24, unions=16),
)
_GEMINI: Final = Dialect(
    name="gemini",
    source="Gemini API reference, Schema; google-genai 2.34 types.Schema",
    date="2026-11-20",
    envelope="parameters",
    tool_name=r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}",
    property_name=r"[a-zA-Z_][a-zA-Z0-9_]{0,63}",
    is_structured=True,
    keywords=frozenset(
        "type properties required items enum anyOf description pattern format minItems maxItems minimum "
        "maximum minLength maxLength nullable".split()
    ),
    formats=frozenset("email byte date date-time password int32 int64 float double enum".split()),
    enum_kinds=frozenset(("string",)),
    has_recursion=False,
    has_nullable=True,
    budget=SchemaBudget(enum_size=40, nodes=2000),
)
_GEMINI_JSON: Final = Dialect(
    name="gemini-json",
    source="Gemini API reference, FunctionDeclaration.parametersJsonSchema; google-genai 2.34",
    date="2026-11-20",
    envelope="parametersJsonSchema",
    tool_name=_GEMINI.tool_name,
    is_structured=True,
    keywords=frozenset(
        "type properties required additionalProperties items enum anyOf $ref $defs description "
        "minItems maxItems minimum maximum".split()
    ),
    enum_kinds=frozenset(("string", "integer", "number")),
    has_untyped=True,
    budget=SchemaBudget(enum_size=40),
)

DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (
            _OPENAI,
            _OPENAI_STRICT,
            replace(_OPENAI, name="openai-responses", envelope="responses"),
            replace(
                _OPENAI_STRICT,
                name="openai-responses-strict",
                envelope="responses",
                plain="openai-responses",
            ),
            _ANTHROPIC,
            _ANTHROPIC_STRICT,
            _GEMINI,
            _GEMINI_JSON,
        )
    }
)
"""The dialects by name."""


def dialect_named(name: str) -> Dialect:
    """Return the dialect of this name.

    Raises:
        ToolgenError: there is no such dialect.
    """
    if name not in DIALECTS:
        raise ToolgenError(f"the dialect {name!r} does not exist", hint=f"one of: {', '.join(DIALECTS)}")
    return DIALECTS[name]
