"""Codes of the findings of `toolgen import`: an error leaves out a tool or a value, a warning a detail."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from toolgen.contract.findings import Code, Finding, Place


def finding_at(code: Code, pointer: str, message: str, *, hint: str = "", tool: str = "") -> Finding:
    """Return a finding at a JSON Pointer of the source."""
    return code.finding(message, place=Place(pointer=pointer), hint=hint, tool=tool)


def is_loss(finding: Finding) -> bool:
    """Return whether the design lacks what a finding is about: a tool, or a fact about one."""
    return not finding.is_warning or finding.code == LEFT_OUT.name


NO_TOOL: Final = Code(
    "import-no-tool",
    "An entry where a tool is expected is not a tool: it has no name, it is not an object, or the "
    "document has no list of tools. The entry is left out.",
)
NO_SCHEMA: Final = Code(
    "import-no-schema",
    "A tool has no JSON Schema for its arguments, or a Python type cannot be expressed in JSON Schema. "
    "The tool is left out. Add the schema to the source, or use a simpler type.",
)
TASK_ONLY: Final = Code(
    "import-task-only",
    "A tool can only be called as a task (MCP 2025-11-25, `execution.taskSupport`), which toolgen does "
    "not support. The tool is left out.",
)
UNSAFE: Final = Code(
    "import-unsafe",
    "A name or a value of a tool contains invisible characters, for example bidirectional controls, or is "
    "too long to be displayed. It is part of the contract, so toolgen cannot escape or shorten it. The "
    "tool is left out.",
)
BAD_SCHEMA: Final = Code(
    "import-bad-schema",
    "A schema is not valid in its dialect, refers to a schema that does not exist, or describes arguments "
    "that are not an object. The tool is left out. Correct the schema in the source.",
)
BAD_FUNCTION: Final = Code(
    "import-bad-function",
    "A Python function cannot be called with named arguments of known types. It is left out. Change its "
    "annotations or parameters as the hint says.",
)
BAD_OPERATION: Final = Code(
    "import-bad-operation",
    "Part of an OpenAPI operation cannot be read: a reference, a parameter or a body. The operation is "
    "left out. Correct the document.",
)
BAD_VALUE: Final = Code(
    "import-bad-value",
    "A line of JSON Lines is not JSON, or is nested deeper than toolgen reads. It is left out.",
)
DUPLICATE_TOOL: Final = Code(
    "import-duplicate-tool",
    "Two tools of the source have the same name. The second one is left out. Rename one of them in the "
    "source.",
)
ASSUMED: Final = Code(
    "import-assumed",
    "An OpenAPI document leaves something open, or describes it in a way that the client does not "
    "support, so the design has the most likely meaning: for example, a string for a path variable "
    "without a description, or a bearer token for an unsupported OAuth 2 flow. Correct the design if "
    "something else is meant.",
    "warning",
)
NO_MATCH: Final = Code(
    "import-no-match",
    "A tag, an operation id or a pattern passed as an option matches no operation of the document. "
    "Correct the option.",
    "warning",
)
NO_SERVER: Final = Code(
    "import-no-server",
    "An OpenAPI document names no server, or only one relative to the address of the document, so toolgen "
    "does not know where to send requests. The tools are in the design, but their calls fail until you "
    "set the address: with --server, or in the `Server` of the design.",
    "warning",
)
LONG_NAME: Final = Code(
    "import-long-name",
    "The name of a tool has more than 64 characters, which model providers do not accept. The tool is "
    "left out. Shorten the name in the source.",
)
INTERNAL_ERROR: Final = Code(
    "import-internal-error",
    "Reading or writing a tool raised an exception, which is a bug in toolgen. The tool is left out, and "
    "the others are imported. Report this line together with the tool.",
)
DUPLICATE_KEY: Final = Code(
    "import-duplicate-key",
    "A key appears twice in one object of the source. The last one counts (RFC 8259, section 4). Remove "
    "one of them.",
    "warning",
)
BAD_TEXT: Final = Code(
    "import-bad-text",
    "A text contains a lone UTF-16 surrogate, which is not a character and cannot be encoded in UTF-8. "
    "The design has U+FFFD in its place.",
    "warning",
)
LEFT_OUT: Final = Code(
    "import-left-out",
    "The design lacks something that the source says about a tool: a field of the wrong JSON type, a body "
    "that is not JSON, a result whose schema cannot be read, a constraint or a default. Add it to the "
    "design if you need it.",
    "warning",
)
NOTE_LEFT_OUT: Final = Code(
    "import-note-left-out",
    "The design lacks a note of a schema that does not affect validation and that no clause can express "
    "at that place: the description of an item, the title of an object, a keyword that toolgen does not "
    "know. The message names each place. Add the note to a description if models should read it.",
    "warning",
)
ODD_SCHEMA: Final = Code(
    "import-odd-schema",
    "A schema contradicts itself, but the tool can still be imported: for example, the schema refuses its "
    "own default or example, or its type refuses one of its enum values. Or no value satisfies the "
    "schema: for example, one `allOf` joins closed objects, or a lower limit is above the upper one.",
    "warning",
)
REPAIRED_SCHEMA: Final = Code(
    "import-repaired-schema",
    "Part of a schema violates JSON Schema, or belongs to an older draft, but has only one sensible "
    "meaning, which the design uses. A `oneOf` in a response is read as `anyOf` if a value can match two "
    "branches. Correct the source if it means something else.",
    "warning",
)
RENAMED: Final = Code(
    "import-renamed",
    "A tool, a parameter or an error has a different name in the design than in the source, because "
    "another one has that name in Python, or had it when this one was imported, or because the runtime "
    "uses the name. For a tool, `Meta(name=…)` has the name in the source.",
    "warning",
)
NO_DESCRIPTION: Final = Code(
    "import-no-description",
    "The source does not describe a tool, but models choose tools by their descriptions. The design has "
    "the name of the tool as its description. Describe there when to use the tool.",
    "warning",
)
NO_ANNOTATION: Final = Code(
    "import-no-annotation",
    "A parameter or the result of a function has no annotation, so the design accepts any JSON value for "
    "it. Annotate it, or write its type into the design.",
    "warning",
)
NEEDS_CONTEXT: Final = Code(
    "import-needs-context",
    "A function takes the call context, which the client for functions does not have, so its tool has no "
    "BindTo. Write an executor for the tool, which has the context and can call the function.",
    "warning",
)
NOT_IMPORTABLE: Final = Code(
    "import-not-importable",
    "The design calls functions by the name of their module, but Python does not find their file under "
    "that name. Move the file below the folder of pyproject.toml, or install its package.",
    "warning",
)
UPDATED: Final = Code(
    "import-updated",
    "The source has changed since the last import. The design has been updated, or would be without --check.",
    "warning",
)
DECLINED: Final = Code(
    "import-declined",
    "The source has changed a part that was removed from the design after the last import. It stays removed.",
    "warning",
)
CONFLICT: Final = Code(
    "import-conflict",
    "The source has changed a part that was edited in the design after the last import. The edit stays, "
    "and the message shows what the source has now. Write what you want; the next import keeps it. Or the "
    "source has a different target in one place: an address, a request, the place of a credential, an "
    "argument. Then addresses are not accepted, guards apply to every target that could be meant, and the "
    "conflict stays open until you accept the new target with --resolve.",
)
REMOVED: Final = Code(
    "import-removed",
    "The source no longer has a part of the design that is edited, commented or in use, so the part "
    "stays. Remove it if nothing needs it. The conflict stays open until you run --resolve.",
)
MORE_PAGES: Final = Code(
    "import-more-pages",
    "The list of tools is only the first of several pages (MCP, `nextCursor`). Put the tools of all pages "
    "into one file.",
    "warning",
)

IMPORTS: Final[Mapping[str, Code]] = MappingProxyType(
    {code.name: code for code in list(globals().values()) if isinstance(code, Code)}
)
"""Codes in this file, by name."""
