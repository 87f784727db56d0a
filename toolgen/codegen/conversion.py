"""How the value of one field becomes the value of another, as Python expressions."""

from __future__ import annotations

from typing import Final, Protocol, assert_never

from toolgen.expr.tree import Assignment, Choose, Conversion, Each, OrNone, Rebuild, Same
from toolgen.shapes.fields import MISSING, Field, may_be_absent, may_be_none, null_is_a_value
from toolgen.shapes.naming import field_name

from .imports import Imports
from .spelling import RUNTIME, Speller

_COPIES: Final = {"array": "list", "map": "dict"}
"""What copies a container whose values fit; to a type checker, a list of int is no list of float."""


class Functions(Protocol):
    """Names the private functions that nested objects and unions need."""

    def rebuild(self, conversion: Rebuild) -> str: ...

    def choose(self, conversion: Choose, field: Field) -> str: ...


class Converter:
    """Converts the fields of one parameter into keyword arguments of another class."""

    def __init__(self, imports: Imports, target: Speller, functions: Functions) -> None:
        self._imports = imports
        self._target = target
        self._functions = functions

    def argument(self, assignment: Assignment, source: Field, parameter: str, *, is_set: bool) -> str:
        """Return the keyword argument of an assignment with a source.

        `is_set` says that the source holds a value although no document does: it is injected.
        """
        target = assignment.target
        name, attribute = field_name(target.name), field_name(source.name)
        expression = f"{parameter}.{attribute}"
        value = self.value(assignment.conversion, target, expression)
        if not may_be_none(source) or is_set:
            return f"{name}={value}"
        if null_is_a_value(target.type):
            if target.required or not may_be_absent(source):
                return f"{name}={value}"
            if not null_is_a_value(source.type):
                present = self.value(_is_present(assignment.conversion), target, expression)
                return self._if_present(name, present, f"{expression} is not None")
            if isinstance(assignment.conversion, Same):
                return f'**{self._imports.name(RUNTIME, "present_fields")}({parameter}, {name}="{attribute}")'
            return self._if_present(name, value, f'"{attribute}" in {parameter}.model_fields_set')
        if target.default is not MISSING:
            present = self.value(_is_present(assignment.conversion), target, expression)
            default = self._target.value(target.type, target.default)
            return f"{name}={default} if {expression} is None else {present}"
        return f"{name}={value}"

    def value(self, conversion: Conversion, target: Field, expression: str, depth: int = 1) -> str:
        """Return the expression of the target's value."""
        match conversion:
            case Same():
                return expression
            case OrNone():
                of = self.value(conversion.of, target, expression, depth)
                return f"None if {expression} is None else {of}"
            case Rebuild():
                return f"{self._functions.rebuild(conversion)}({expression})"
            case Choose():
                return f"{self._functions.choose(conversion, target)}({expression})"
            case Each(of=Same()):
                return f"{_COPIES[conversion.container]}({expression})"
            case Each():
                level = str(depth) if depth > 1 else ""
                item, key = f"item{level}", f"key{level}"
                of = self.value(conversion.of, target, item, depth + 1)
                if conversion.container == "array":
                    return f"[{of} for {item} in {expression}]"
                return f"{{{key}: {of} for {key}, {item} in {expression}.items()}}"
            case _:
                assert_never(conversion)

    def _if_present(self, name: str, value: str, condition: str) -> str:
        # A splat of `Any` values: the other parameters of the class are of other types.
        any_ = self._imports.name("typing", "Any")
        return f"**(dict[str, {any_}]({name}={value}) if {condition} else {{}})"


def _is_present(conversion: Conversion) -> Conversion:
    return conversion.of if isinstance(conversion, OrNone) else conversion
