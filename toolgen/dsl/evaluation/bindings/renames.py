"""`rename` of a binding, resolved in both directions."""

from __future__ import annotations

from ...expr import codes
from ...expr.tree import Tool
from ...tool_clauses import BindTo
from ..report import Report, suggestion
from .methods import ResolvedMethod


class Renames:
    """The field that fills each field: by `rename`, otherwise by name; no field fills two.

    `are_known` means that no part of the tool and the method was reported and omitted.
    """

    def __init__(
        self, bind_to: BindTo, tool: Tool, operation: ResolvedMethod, report: Report, *, are_known: bool
    ) -> None:
        self._tool = tool.name
        self._are_known = are_known
        self._bind_to = bind_to
        self._report = report
        self.are_broken = False
        """Whether a rename was reported, so that fields it leaves unfilled are not reported too."""
        payload = {field.name for field in operation.payload_type.fields}
        result = {field.name for field in operation.result_type.fields}
        arguments = {field.name for field in (*tool.payload.fields, *tool.injected)}
        returned = {field.name for field in tool.result.fields} | {
            artifact.kind for artifact in tool.artifacts
        }
        self._to_payload: dict[str, str] = {}
        self._to_result: dict[str, str] = {}
        for field, attribute in bind_to.rename.items():
            self._check(field, attribute, payload | result, arguments | returned)
            if field in payload and attribute in arguments:
                self._to_payload[field] = attribute
            if field in result and attribute in returned:
                if attribute in self._to_result:
                    fault = f"maps two fields to {attribute!r}"
                    self._refuse(fault, "keep one of them")
                self._to_result[attribute] = field
            elif field in payload | result and attribute in arguments | returned:
                self._check_side(field, attribute)

    def payload_source(self, field: str) -> str | None:
        """Return the tool's argument that fills a field of the method's payload."""
        if field in self._to_payload:
            return self._to_payload[field]
        return None if field in self._to_payload.values() else field

    def result_source(self, attribute: str) -> str | None:
        """Return the field of the method's result that fills an attribute of the tool."""
        if attribute in self._to_result:
            return self._to_result[attribute]
        return None if attribute in self._to_result.values() else attribute

    def _check(self, field: str, attribute: str, fields: set[str], attributes: set[str]) -> None:
        if field not in fields and field in attributes and attribute in fields:
            fault = f"maps {field!r} to {attribute!r} in the wrong direction"
            self._refuse(fault, f"the field of the method comes first: rename={{{attribute!r}: {field!r}}}")
        elif field not in fields:
            fault = f"names {field!r}, which is not in the payload or the result of the method"
            self._refuse(fault, suggestion(field, sorted(fields), "remove it"))
        elif attribute not in attributes:
            fault = f"maps {field!r} to {attribute!r}, which the tool does not have"
            self._refuse(fault, suggestion(attribute, sorted(attributes), "remove it"))

    def _check_side(self, field: str, attribute: str) -> None:
        if field not in self._to_payload:
            fault = f"maps {field!r} to {attribute!r}, which is on the other side of the tool"
            self._refuse(
                fault, "map a payload field to an argument, and a result field to an attribute of Return"
            )

    def _refuse(self, fault: str, hint: str) -> None:
        self.are_broken = True
        if self._are_known:
            self._report.add(codes.BAD_RENAME, self._bind_to.source, tool=self._tool, fault=fault, hint=hint)
