"""The codes of records that are not diagnostics of a design, each with what it means and what to do.

`explain` prints them. The codes of diagnostics have their table in `expr/codes.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PROBLEMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "environment": (
            "Toolgen cannot do its work: a setting, a file, a process or an extra is missing or wrong. The "
            "message names it, the hint says what to do, and the exit code is 2."
        ),
        "python-error": (
            "Python cannot import the design, or a module that it needs. The place is the last one in your "
            "own files; the exit code is 2."
        ),
        "output-missing": "A file of the generated code does not exist. `toolgen gen` writes it.",
        "output-changed": "A generated file is not what the design says now. `toolgen gen` writes it again.",
        "output-edited": (
            "A generated file was edited. `toolgen gen` replaces it; make the change in the design, or in a "
            "file of your own."
        ),
        "output-unrecorded": (
            "A file stands where one is generated, and the manifest does not have it. `toolgen gen` replaces "
            "it."
        ),
        "output-stale": (
            "A generated file belongs to nothing in the design any more. `toolgen gen` deletes it."
        ),
        "output-kept": (
            "A file is no longer generated and was edited, so `toolgen gen` does not delete it. Delete it if "
            "you do not need it."
        ),
        "stub-missing": (
            "An executor, or its method for a tool, does not exist. `toolgen gen` adds it where the place is "
            "certain; otherwise write it in the file that is named."
        ),
        "stub-unimplemented": (
            "The method of a tool still is what `toolgen gen` wrote: it raises. Implement it."
        ),
        "stub-changed": (
            "The signature of a method contradicts the design. Write the types that the design has now; "
            "toolgen does not touch the method."
        ),
        "stub-orphaned": (
            "A method or an executor belongs to no tool or toolset of the design. Delete it, or call it "
            "yourself; toolgen does not touch it."
        ),
        "example-failed": (
            "An example of the design ran and did not give its result, or its tool failed. Correct the "
            "example or the executor; the exit code of `toolgen test` is 1."
        ),
        "example-not-run": (
            "An example was only compared with the generated code, because its tool could change live data, "
            "or waits for somebody. Set `test_runtime` in `[tool.toolgen]`, a function that returns a Runtime"
            " made for tests; or give a tool that only reads `Annotations(read_only=True)`."
        ),
    }
)
