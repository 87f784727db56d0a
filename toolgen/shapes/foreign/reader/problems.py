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
    """Problem of the place, such as `refers to '#/$defs/Nope', which does not exist`."""
    hint: str
    """Hint that says how to correct it."""
    is_warning: bool = False
    is_repair: bool = False
    """Whether the place was read as what it means, which is not what it says."""


@frozen_record
class Reading:
    """The result of reading a schema."""

    foreign: Foreign | None
    """Schema that was read; None exactly if one of the problems is an error."""
    problems: tuple[SchemaProblem, ...]
    schema: object = None
    """The schema as it was written, but for what was repaired; None when there is an error."""
    unsupported: frozenset[str] = frozenset()
    """Keywords that the normal form does not hold in full."""
