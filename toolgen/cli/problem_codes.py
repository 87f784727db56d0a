"""The codes of findings of the environment: each with its meaning and its remedy.

`explain` prints them. The codes of designs are in `dsl/expr/codes.py`, the codes of imports in
`importers/codes.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from toolgen.contract.findings import Code

ENVIRONMENT: Final = Code(
    "environment",
    "Toolgen cannot do its work: a setting, a file, a process or an extra is missing or wrong. The "
    "message names it, the hint says what to do, and the exit code is 2.",
)
PYTHON_ERROR: Final = Code(
    "python-error",
    "Python cannot import the design, or a module that it needs. The place is the last one in your "
    "own files; the exit code is 2.",
)
OUTPUT_MISSING: Final = Code(
    "output-missing",
    "A file of the generated code does not exist. `toolgen gen` writes it.",
)
OUTPUT_CHANGED: Final = Code(
    "output-changed",
    "A generated file does not match the design. `toolgen gen` writes it again.",
)
OUTPUT_EDITED: Final = Code(
    "output-edited",
    "A generated file was edited. `toolgen gen` replaces it; make the change in the design, or in a "
    "file of your own.",
)
OUTPUT_UNRECORDED: Final = Code(
    "output-unrecorded",
    "A file exists where one is generated, but the manifest does not list it. `toolgen gen` replaces it.",
)
OUTPUT_STALE: Final = Code(
    "output-stale",
    "A generated file no longer belongs to anything in the design. `toolgen gen` deletes it.",
)
OUTPUT_KEPT: Final = Code(
    "output-kept",
    "A file is no longer generated and was edited, so `toolgen gen` does not delete it. Delete it if "
    "you do not need it.",
)
CLAUSE_UNLISTED: Final = Code(
    "clause-unlisted",
    "A clause is assigned to a variable of the design module, but is not part of the design: for example an "
    "agent that no service lists, or a tool that no toolset lists. Nothing is generated for it, and code "
    "that was generated before is deleted. List it, remove it, or begin its name with an underscore.",
    "warning",
    is_suppressible=True,
)
FUNCTION_MISSING: Final = Code(
    "function-missing",
    "The module of `Functions` or `Function` is not found here, or it does not define the function. The "
    "first call would fail. Correct the design, add the function, or install the module where toolgen runs.",
    "warning",
    is_suppressible=True,
)
STUB_MISSING: Final = Code(
    "stub-missing",
    "An executor, or its method for a tool, does not exist. `toolgen gen` adds it if the place is "
    "unambiguous; otherwise write it in the file that the message names.",
)
STUB_UNIMPLEMENTED: Final = Code(
    "stub-unimplemented",
    "The method of a tool is still the stub that `toolgen gen` wrote, which raises. Implement it.",
)
STUB_CHANGED: Final = Code(
    "stub-changed",
    "The signature of a method contradicts the design. Write the types of the design; "
    "toolgen does not touch the method.",
    "warning",
    is_suppressible=True,
)
STUB_ORPHANED: Final = Code(
    "stub-orphaned",
    "A method or an executor belongs to no tool or toolset of the design. If you renamed a tool, "
    "move the body to its new method. Otherwise delete it, or call it yourself; toolgen does not change it.",
    "warning",
    is_suppressible=True,
)
EXAMPLE_FAILED: Final = Code(
    "example-failed",
    "An example of the design ran and did not return its result, or its tool failed. Correct the "
    "example or the executor; the exit code of `toolgen test` is 1.",
)
EXAMPLE_NOT_RUN: Final = Code(
    "example-not-run",
    "An example was only validated against the generated code, because its tool could change live data, "
    "or waits for a person. Set `test_runtime` in `[tool.toolgen]`, a function that returns a Runtime"
    " made for tests; or give a tool that only reads `Annotations(read_only=True)`.",
    "warning",
    is_suppressible=True,
)

PROBLEMS: Final[Mapping[str, Code]] = MappingProxyType(
    {code.name: code for code in list(globals().values()) if isinstance(code, Code)}
)
"""The codes of this file by name."""
