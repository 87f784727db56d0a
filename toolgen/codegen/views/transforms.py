"""`transforms.py`: conversions between the tools of a toolset and their bound methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, Final, Literal, assert_never

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import (
    ArtifactSource,
    Assignment,
    Binding,
    Choose,
    Conversion,
    Each,
    ObjectMapping,
    OrNone,
    Rebuild,
    Same,
    Tool,
    Toolset,
)
from toolgen.shapes.fields import MISSING, ArrayType, Field, may_be_absent, may_be_none, null_is_a_value
from toolgen.shapes.naming import field_name, snake

from .. import names
from ..imports import Imports
from ..layout import SHARED, ModuleScope, relative, service_package, toolset_package
from ..spelling import GENERATED, Speller
from ..text import docstring

Side = Literal["payload", "result"]


@frozen_record
class FunctionView:
    """A function that selects a value by class, or returns its only value."""

    name: str
    parameter: str
    source: str
    target: str
    docstring: str = ""
    cases: tuple[tuple[str, str], ...] = ()
    """Class and value."""
    value: str = ""


@frozen_record
class TransformsView:
    template: ClassVar[str] = "transforms.py.jinja"
    docstring: str
    imports: str
    functions: tuple[FunctionView, ...]


def transforms_view(
    toolset: Toolset, scope: ModuleScope, services: Mapping[str, ModuleScope]
) -> TransformsView:
    """Return the view; `services` has the scope of every service that a tool is bound to."""
    module = _Module(toolset, scope, services)
    functions = [
        function
        for tool in toolset.tools
        if tool.binding
        for function in _Direction.functions(module, tool, tool.binding)
    ]
    return TransformsView(
        docstring=docstring(
            f"Conversions between the tools of {toolset.service}.{toolset.name} and the methods behind them."
        ),
        imports=module.imports.text(),
        functions=(*functions, *module.nested),
    )


class _Module:
    """Shared state of the functions of the module: imports, classes and private functions."""

    def __init__(self, toolset: Toolset, scope: ModuleScope, services: Mapping[str, ModuleScope]) -> None:
        self.imports = Imports()
        self.imports.name("__future__", "annotations")
        self.nested: list[FunctionView] = []
        self._package = toolset_package(toolset)
        self._scope = scope
        self._services = services
        self._names: dict[object, str] = {}

    def scope(self, service: str | None) -> ModuleScope:
        """Return the scope of a service, or of the toolset."""
        return self._scope if service is None else self._services[service]

    def class_of(self, service: str | None) -> Callable[[str], str]:
        """Return a function that writes a class of the service, or of the toolset, as code."""

        def qualified(name: str) -> str:
            if self.scope(service).modules[name] == SHARED:
                module = self.imports.name(relative(self._package, ()), "types", "shared_types")
            elif service is None:
                module = self.imports.name(".", "types")
            else:
                source = relative(self._package, service_package(service))
                module = self.imports.name(source, "service", names.service_module(service))
            return f"{module}.{name}"

        return qualified

    def once(self, key: object, name: str, make: Callable[[str], FunctionView]) -> str:
        """Return the name of the private function for a key; the first call creates the function."""
        if key not in self._names:
            unique, number = name, 2
            while unique in self._names.values():
                unique, number = f"{name}_{number}", number + 1
            self._names[key] = unique
            self.nested.append(make(unique))
        return self._names[key]


class _Direction:
    """One direction of conversion: payloads from tool to method, or results from method to tool."""

    def __init__(self, module: _Module, tool: Tool, binding: Binding, side: Side) -> None:
        to_method = side == "payload"
        self._module = module
        self._tool = tool
        self._key = (side, binding.service)
        objects = binding.payload_objects if to_method else binding.result_objects
        self._mappings = {(mapping.source, mapping.target): mapping for mapping in objects}
        target = binding.service if to_method else None
        self._source = module.class_of(None if to_method else binding.service)
        self._target = module.class_of(target)
        speller = Speller(module.imports, self._target, module.scope(target).objects)
        self._converter = FieldConverter(module.imports, speller, self)

    @classmethod
    def functions(cls, module: _Module, tool: Tool, binding: Binding) -> Iterator[FunctionView]:
        method = f"{binding.service}.{binding.method}"
        to_method = cls(module, tool, binding, "payload")
        yield to_method._function(
            names.to_method_payload(tool), "payload", binding.payload, f"Return the payload of {method}."
        )
        to_tool = cls(module, tool, binding, "result")
        yield to_tool._function(
            names.to_result(tool), "result", binding.result, f"Return what {tool.name} returns of {method}."
        )
        for artifact in binding.artifacts:
            yield to_tool._artifact(artifact, binding.result.source)

    def rebuild(self, conversion: Rebuild) -> str:
        """Return the name of the private function that a nested object needs."""
        mapping = self._mappings[conversion.source, conversion.target]
        return self._module.once(
            (*self._key, conversion.source, conversion.target),
            f"_to_{snake(conversion.target)}",
            lambda name: self._function(name, "value", mapping),
        )

    def choose(self, conversion: Choose, field: Field) -> str:
        """Return the name of the private function that a union needs."""
        sources = [self._source(branch.source) for branch in conversion.branches]
        return self._module.once(
            (*self._key, conversion),
            f"_to_{snake(field.name)}",
            lambda name: FunctionView(
                name=name,
                parameter="value",
                source=" | ".join(sources),
                target=" | ".join(
                    dict.fromkeys(self._target(branch.target) for branch in conversion.branches)
                ),
                cases=tuple(zip(sources, map(self._branch, conversion.branches), strict=True)),
            ),
        )

    def _branch(self, conversion: Rebuild) -> str:
        is_same = (conversion.source, conversion.target) not in self._mappings
        return "value" if is_same else f"{self.rebuild(conversion)}(value)"

    def _function(self, name: str, parameter: str, mapping: ObjectMapping, text: str = "") -> FunctionView:
        target = self._target(mapping.target)
        return FunctionView(
            name=name,
            parameter=parameter,
            source=self._source(mapping.source),
            target=target,
            docstring=docstring(text, 4) if text else "",
            value=f"{target}({', '.join(self._arguments(mapping, parameter))})",
        )

    def _arguments(self, mapping: ObjectMapping, parameter: str) -> Iterator[str]:
        for assignment in mapping.assignments:
            if assignment.computed == "returned":
                yield f"{field_name(assignment.target.name)}={_returned(mapping)}"
            elif assignment.computed == "truncated":
                yield f"{field_name(assignment.target.name)}={_truncated(mapping, self._tool)}"
            elif assignment.source is not None:
                yield self._converter.argument(assignment, assignment.source, parameter)
        if mapping.keeps_keys:
            yield f"**{self._module.imports.name(GENERATED, 'further_keys')}({parameter})"

    def _artifact(self, artifact: ArtifactSource, source: str) -> FunctionView:
        target = next(other.type for other in self._tool.artifacts if other.kind == artifact.kind)
        expression = f"result.{field_name(artifact.source.name)}"
        return FunctionView(
            name=names.to_artifact(self._tool, artifact.kind),
            parameter="result",
            source=self._source(source),
            target=f"{self._target(target)}{' | None' if may_be_none(artifact.source) else ''}",
            docstring=docstring(f"Return the {artifact.kind} of {self._tool.name}.", 4),
            value=self._converter.value(artifact.conversion, artifact.source, expression),
        )


def _returned(mapping: ObjectMapping) -> str:
    """Return the number of results: the field of the method, or the length of the only array."""
    for assignment in mapping.assignments:
        if assignment.target.name == "returned" and assignment.source is not None:
            return f"result.{field_name(assignment.source.name)}"
    sources = [
        assignment.source
        for assignment in mapping.assignments
        if isinstance(assignment.target.type, ArrayType) and assignment.source
    ]
    array = f"result.{field_name(sources[0].name)}"
    return f"len({array} or [])" if may_be_none(sources[0]) else f"len({array})"


def _truncated(mapping: ObjectMapping, tool: Tool) -> str:
    """Return the expression that tells whether there are more results, by the next cursor or the total."""
    next_cursor = tool.bounded.next_cursor if tool.bounded else None
    sources = {
        assignment.target.name: assignment.source
        for assignment in mapping.assignments
        if assignment.source is not None
    }
    if (cursor := sources.get(next_cursor or "")) and may_be_none(cursor):
        return f"result.{field_name(cursor.name)} is not None"
    total = sources["total"]
    more = f"result.{field_name(total.name)} > {_returned(mapping)}"
    return f"result.{field_name(total.name)} is not None and {more}" if may_be_none(total) else more


_COPIES: Final = {"array": "list", "map": "dict"}
"""Functions that copy a container with matching values: for type checkers, list[int] is not list[float]."""


class FieldConverter:
    """Converts the fields of one parameter into keyword arguments of another class."""

    def __init__(self, imports: Imports, target: Speller, functions: _Direction) -> None:
        self._imports = imports
        self._target = target
        self._functions = functions

    def argument(self, assignment: Assignment, source: Field, parameter: str) -> str:
        """Return the keyword argument of an assignment with a source."""
        target = assignment.target
        name, attribute = field_name(target.name), field_name(source.name)
        expression = f"{parameter}.{attribute}"
        value = self.value(assignment.conversion, target, expression)
        if not may_be_none(source):
            return f"{name}={value}"
        if null_is_a_value(target.type):
            if target.required or not may_be_absent(source):
                return f"{name}={value}"
            if not null_is_a_value(source.type):
                present = self.value(_is_present(assignment.conversion), target, expression)
                return self._if_present(name, present, f"{expression} is not None")
            if isinstance(assignment.conversion, Same):
                present_fields = self._imports.name(GENERATED, "present_fields")
                return f'**{present_fields}({parameter}, {name}="{attribute}")'
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
        # Unpack `Any` values, because the other parameters of the class have other types.
        any_ = self._imports.name("typing", "Any")
        return f"**(dict[str, {any_}]({name}={value}) if {condition} else {{}})"


def _is_present(conversion: Conversion) -> Conversion:
    return conversion.of if isinstance(conversion, OrNone) else conversion
