"""Problems of a foreign schema, and the result of reading it."""

from __future__ import annotations

from toolgen.contract.record import frozen_record

from ...fields import Foreign


@frozen_record
class SchemaProblem:
    """One error in a schema, or a warning about it."""

    pointer: str
    """JSON Pointer into the schema (RFC 6901); empty at the root."""
    message: str
    """Problem at the location, for example `refers to '#/$defs/Nope', which does not exist`."""
    hint: str
    """How to correct it."""
    is_warning: bool = False
    is_repair: bool = False
    """Whether the location was read with its obvious meaning instead of its literal one."""


@frozen_record
class Reading:
    """The result of reading a schema."""

    foreign: Foreign | None
    """The schema that was read; None exactly if one of the problems is an error."""
    problems: tuple[SchemaProblem, ...]
    schema: object = None
    """The schema as it was written, except for repairs; None if there is an error."""
    unsupported: frozenset[str] = frozenset()
    """Keywords that the normal form cannot express completely."""
