"""What a command prints with `--format json`, held to the schema that ships."""

import json
from typing import Any

from jsonschema import Draft202012Validator

from toolgen.contract.findings import format_schema

VALIDATOR = Draft202012Validator(format_schema())


def findings_in(output: str) -> list[dict[str, Any]]:
    """Return the finding of each line."""
    found = [json.loads(line) for line in output.splitlines()]
    for one in found:
        VALIDATOR.validate(one)
    return found
