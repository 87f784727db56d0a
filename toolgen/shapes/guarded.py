"""Validators of documents: with bounded work, with null only as a value, and with the rules of a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic_core import CoreConfig, SchemaSerializer, SchemaValidator

from toolgen.contract.errors import ToolgenError

from .numbers import AnySchema

if TYPE_CHECKING:
    from .foreign.rules import Rules


def guarded(validate: Callable[..., Any], core: AnySchema, schema_json: str) -> Callable[..., Any]:
    """Return the function that validates documents, with bounded work if validation can take long."""
    if '"oneOf"' in schema_json or '"anyOf"' in schema_json:
        from .union_guard import discriminate_unions, within_budget

        if (chosen := discriminate_unions(core)) is not None:
            validate = within_budget(SchemaValidator(chosen, _use_prebuilt=False).validate_json)
    if '"pattern"' in schema_json:
        from .text_guard import count_patterns

        validate = count_patterns(validate, core)
    return validate


def literal(core: AnySchema, schema_json: str, config: CoreConfig | None = None) -> Callable[..., Any]:
    """Return the function that validates documents in which null never means absent."""
    from .literal_nulls import literal_nulls  # only documents with a null need it

    core = literal_nulls(core)
    return guarded(SchemaValidator(core, config, _use_prebuilt=False).validate_json, core, schema_json)


def rules_class(needs: str) -> type[Rules]:
    """Return the class for the rules that types cannot express.

    Raises:
        ToolgenError: the extra `jsonschema` is not installed; `needs` is the message.
    """
    try:
        from .foreign.rules import Rules
    except ModuleNotFoundError as error:
        if error.name != "jsonschema_rs":
            raise
        raise ToolgenError(needs, hint="pip install 'toolgen[jsonschema]'") from error
    return Rules


def surely_fits(
    schema: Mapping[str, Any], core: AnySchema, serializer: SchemaSerializer, omits_unset: bool
) -> Callable[[Any, int], bool]:
    """Return a function that decides whether a value certainly fits, given the size of its document in bytes.

    Without the extra `jsonschema`, no value certainly fits; the check of the schema then reports the missing
    extra.
    """
    if find_spec("jsonschema_rs") is None:
        return nothing_surely_fits
    from .foreign.remainder import Remainder

    return Remainder(schema, core, serializer, omits_unset).accepts


def nothing_surely_fits(value: object, size: int) -> bool:
    return False
