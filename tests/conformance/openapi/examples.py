"""What an operation takes and answers by the examples of its document: parameters, a body, an answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

MISSING: Final = object()
_DEEPEST: Final = 12
_PLAIN: Final = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}
"""Values of types with no rule beside."""
_RULES: Final = frozenset(
    ["pattern", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "multipleOf"]
)


class NoExampleError(Exception):
    """A value is required of which the document has no example."""


@dataclass(slots=True)
class Sample:
    """The values of one request."""

    parameters: dict[tuple[str, str], Any] = field(default_factory=dict)
    """By place and name."""
    body: Any = MISSING
    has_example: bool = False
    """Whether one value is an example, a default or a value of an enumeration."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers."""

    status: int
    media: str = ""
    value: Any = MISSING

    @property
    def body(self) -> bytes:
        if self.value is MISSING:
            return b""
        if isinstance(self.value, str) and "json" not in self.media:
            return self.value.encode()
        return json.dumps(self.value).encode()


class Examples:
    """The examples of a document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._hidden = "readOnly"
        """What the properties are that the value has not."""

    def answer(self, operation: dict[str, Any]) -> Answer | None:
        """Return the answer of an operation by the first of its examples; None if it has none."""
        answers = {
            int(status.replace("XX", "00")): self.followed(each)
            for status, each in operation["responses"].items()
            if status.startswith("2")
        }
        self._hidden = "writeOnly"
        for status, described in answers.items():
            for media, facts in described.get("content", {}).items():
                value = self._of_facts(facts)
                if value is MISSING and "json" in media:
                    value = self.of(facts.get("schema", {}))
                if value is not MISSING:
                    return Answer(status, media, value)
        return next((Answer(status) for status, each in answers.items() if not each.get("content")), None)

    def schema_of_answer(self, operation: dict[str, Any], status: int, media: str) -> dict[str, Any] | None:
        """Return the schema of an answer; None if the document has none for it."""
        for key in (str(status), f"{status // 100}XX", "default"):
            if key in operation["responses"]:
                content = self.followed(operation["responses"][key]).get("content", {})
                kinds = {kind.partition(";")[0].strip(): facts for kind, facts in content.items()}
                facts = kinds.get(media.partition(";")[0].strip(), {})
                return self.followed(facts["schema"]) if isinstance(facts.get("schema"), dict) else None
        return None

    def sample(self, operation: dict[str, Any], of_path: list[Any], media: str) -> Sample:
        """Return the values of an operation whose body is sent as a media type, "" for none.

        Raises:
            NoExampleError: a value is required of which there is no example.
        """
        sample = Sample()
        self._hidden = "readOnly"
        for parameter in map(self.followed, [*of_path, *operation.get("parameters", [])]):
            place, name = parameter["in"], parameter["name"]
            value = self._of_facts(parameter)
            if value is MISSING:
                value = self.of(parameter.get("schema", {}))
            sample.has_example |= value is not MISSING
            is_required = place == "path" or parameter.get("required", False)
            if value is MISSING and is_required:
                value = self.plain(parameter.get("schema", {}))
                if value is MISSING:
                    raise NoExampleError(f"of the {place} parameter {name}")
            if value is not MISSING:
                sample.parameters[place, name] = value
        if media:
            self._add_body(sample, self.followed(operation["requestBody"]), media)
        return sample

    def _add_body(self, sample: Sample, body: dict[str, Any], media: str) -> None:
        described = body["content"][media]
        value = self._of_facts(described)
        if value is MISSING:
            value = self.of(described.get("schema", {}))
        sample.has_example |= value is not MISSING
        if value is MISSING and body.get("required"):
            value = self.plain(described.get("schema", {}))
            if value is MISSING:
                raise NoExampleError("of the body")
        sample.body = value

    def followed(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return what a reference leads to."""
        while "$ref" in value:
            held: Any = self._document
            for token in value["$ref"].removeprefix("#/").split("/"):
                held = held[token.replace("~1", "/").replace("~0", "~")]
            value = held
        return value

    def _of_facts(self, facts: dict[str, Any]) -> Any:
        """Return the example beside a schema."""
        if "example" in facts:
            return facts["example"]
        examples = facts.get("examples")
        held = [self.followed(each) for each in examples.values()] if isinstance(examples, dict) else []
        return next((each["value"] for each in held if "value" in each), MISSING)

    def of(self, schema: Any, depth: int = 0) -> Any:
        """Return an example of a schema, or a value that its parts show by examples; `MISSING` for none."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return MISSING
        schema = self.followed(schema)
        for key in ("example", "default", "const"):
            if schema.get(key) is not None:
                return schema[key]
        for key in ("examples", "enum"):
            if isinstance(schema.get(key), list) and schema[key] and schema[key][0] is not None:
                return schema[key][0]
        if isinstance(schema.get("allOf"), list):
            return self._of_all(schema, depth)
        for key in ("oneOf", "anyOf"):
            for part in schema.get(key, []):
                if (value := self.of(part, depth + 1)) is not MISSING:
                    return value
        if "properties" in schema:
            return self._of_object(schema, depth)
        if schema.get("type") == "array":
            item = self.of(schema.get("items", {}), depth + 1)
            return MISSING if item is MISSING else [item]
        return MISSING

    def _of_object(self, schema: dict[str, Any], depth: int) -> Any:
        required = schema.get("required", [])
        values = {}
        for name, part in schema["properties"].items():
            held = self.followed(part) if isinstance(part, dict) else {}
            if held.get(self._hidden):
                continue
            value = self.of(part, depth + 1)
            if value is MISSING and name in required:
                value = self.plain(part, depth + 1)
                if value is MISSING:
                    return MISSING
            if value is not MISSING:
                values[name] = value
        return values or MISSING

    def _of_all(self, schema: dict[str, Any], depth: int) -> Any:
        values: dict[str, Any] = {}
        parts = [*schema["allOf"], {key: schema[key] for key in ("properties", "required") if key in schema}]
        for part in parts:
            value = self.of(part, depth + 1)
            if len(schema["allOf"]) == 1 and value is not MISSING and not isinstance(value, dict):
                return value
            if isinstance(value, dict):
                values |= value
        return values or MISSING

    def plain(self, schema: Any, depth: int = 0) -> Any:
        """Return a value of a schema without examples; `MISSING` where it has rules that it may break."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return MISSING
        schema = self.followed(schema)
        if (value := self.of(schema, depth)) is not MISSING:
            return value
        rules = _RULES - ({"format"} if schema.get("type") in ("integer", "number") else set())
        if rules.isdisjoint(schema) and isinstance(schema.get("type"), str):
            return _PLAIN.get(schema["type"], MISSING)
        return MISSING
