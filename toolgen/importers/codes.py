"""The codes of findings of `toolgen import`; errors leave out a tool or a value, warnings a detail."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from toolgen.contract.findings import Code, Finding, Place


def finding_at(code: Code, pointer: str, message: str, *, hint: str = "", tool: str = "") -> Finding:
    """Return a finding at a JSON Pointer of the source."""
    return code.finding(message, place=Place(pointer=pointer), hint=hint, tool=tool)


def is_loss(finding: Finding) -> bool:
    """Return whether the design lacks what a finding names: a tool, or what the source says of one."""
    return not finding.is_warning or finding.code == LEFT_OUT.name


NO_TOOL: Final = Code(
    "import-no-tool",
    "Something stands where a tool is expected, and is none: it has no name, or is no object, or the "
    "document has no list of tools. It is left out.",
)
NO_SCHEMA: Final = Code(
    "import-no-schema",
    "A tool has no JSON Schema of its arguments, or a Python type has none. The tool is left out. Add the "
    "schema to the source, or use a plainer type.",
)
TASK_ONLY: Final = Code(
    "import-task-only",
    "A tool can be called as a task alone (MCP 2025-11-25, `execution.taskSupport`), which toolgen does not "
    "do. The tool is left out.",
)
UNSAFE: Final = Code(
    "import-unsafe",
    "A name or a value of a tool holds characters that nobody sees, such as bidirectional controls, or is "
    "too long to be shown. It is part of the contract, so that it cannot be escaped or cut. The tool is left "
    "out.",
)
BAD_SCHEMA: Final = Code(
    "import-bad-schema",
    "A schema is not valid in its dialect, refers to something that is not there, or asks for arguments that "
    "are no object. The tool is left out. Correct the schema in the source.",
)
BAD_FUNCTION: Final = Code(
    "import-bad-function",
    "A Python function cannot be called with named arguments of known types. It is left out. Write the "
    "annotations or the parameters that the hint names.",
)
BAD_OPERATION: Final = Code(
    "import-bad-operation",
    "A part of an operation of an OpenAPI document cannot be read: a reference, a parameter or a body. The "
    "operation is left out. Correct the document.",
)
BAD_VALUE: Final = Code(
    "import-bad-value",
    "A line of JSON Lines is no JSON, or is nested deeper than toolgen reads. It is left out.",
)
DUPLICATE_TOOL: Final = Code(
    "import-duplicate-tool",
    "Two tools of the source have one name. The second is left out. Rename one of the two in the source.",
)
ASSUMED: Final = Code(
    "import-assumed",
    "An OpenAPI document leaves something open, or says it in a way no client offers, and the design has "
    "what is most likely meant: a text for a path variable that nobody describes, a bearer token for a flow "
    "of OAuth 2 without a browser. Correct the design if something else is meant.",
    "warning",
)
NO_MATCH: Final = Code(
    "import-no-match",
    "A tag, an id or a pattern that an option names fits no operation of the document. Correct the option.",
    "warning",
)
NO_SERVER: Final = Code(
    "import-no-server",
    "An OpenAPI document names no server, or one that is relative to where the document was found, so that "
    "nobody knows where requests go. The tools are in the design, and their calls fail until you name the "
    "address: with --server, or in the `Server` of the design.",
    "warning",
)
LONG_NAME: Final = Code(
    "import-long-name",
    "The name of a tool is longer than model providers take, which is 64 characters. The tool is left out. "
    "Give it a shorter name in the source.",
)
INTERNAL_ERROR: Final = Code(
    "import-internal-error",
    "Reading or writing one tool ended with an exception, which is a bug in toolgen. The tool is left out, "
    "and the others are imported. Report the line with the tool.",
)
DUPLICATE_KEY: Final = Code(
    "import-duplicate-key",
    "A key stands twice in one object of the source; the last one counts (RFC 8259, section 4). Remove one "
    "of the two.",
    "warning",
)
BAD_TEXT: Final = Code(
    "import-bad-text",
    "A text holds a lone UTF-16 surrogate, which is no character and cannot be written as UTF-8. U+FFFD "
    "stands in its place in the design.",
    "warning",
)
LEFT_OUT: Final = Code(
    "import-left-out",
    "Something that the source says of a tool is not in the design: a field of the wrong JSON type, a body "
    "that is not JSON, a result whose schema cannot be read, a constraint or a default. Write it into the "
    "design if it matters.",
    "warning",
)
NOTE_LEFT_OUT: Final = Code(
    "import-note-left-out",
    "A schema says what refuses no value, and what no clause carries at that place: the description of an "
    "item, a title of the whole, a keyword that toolgen does not know. The message names each place. Write "
    "it into a description, if a model should read it.",
    "warning",
)
ODD_SCHEMA: Final = Code(
    "import-odd-schema",
    "A schema contradicts itself in a place that does not keep the tool from being imported, such as a "
    "default or an example that the schema refuses, or a choice among values that the type beside it "
    "refuses. Or no value satisfies it: closed objects in one `allOf`, a minimum above a maximum.",
    "warning",
)
REPAIRED_SCHEMA: Final = Code(
    "import-repaired-schema",
    "A place of a schema breaks JSON Schema, or is of an older draft, and has one sensible meaning, which "
    "the design has. A `oneOf` of answers of which a value may fit two branches is read as `anyOf`. Correct "
    "the source if it means something else.",
    "warning",
)
RENAMED: Final = Code(
    "import-renamed",
    "A tool, a parameter or an error has another name in the design than in the source, because another one "
    "has that name in Python, or had it when this one was imported, or because the runtime uses it. The name "
    "that a tool has in the source stands in `Meta(name=…)`.",
    "warning",
)
NO_DESCRIPTION: Final = Code(
    "import-no-description",
    "The source does not say what a tool is for, and models choose tools by that. The design has its name as "
    "description. Say there when to use it.",
    "warning",
)
NO_ANNOTATION: Final = Code(
    "import-no-annotation",
    "A parameter of a function, or its result, has no annotation, so the design takes any JSON value for it. "
    "Annotate it, or write its type into the design.",
    "warning",
)
NEEDS_CONTEXT: Final = Code(
    "import-needs-context",
    "A function takes the context of a call, which the client of functions does not have. Its tool has no "
    "BindTo; write its executor, which has the context and may call the function.",
    "warning",
)
NOT_IMPORTABLE: Final = Code(
    "import-not-importable",
    "The functions stand in a file that Python does not find by the name of its module, by which the design "
    "calls them. Put the file below the folder of pyproject.toml, or install its package.",
    "warning",
)
UPDATED: Final = Code(
    "import-updated",
    "The source has changed since the last import, and the design has what it says now, or with --check "
    "would have it.",
    "warning",
)
DECLINED: Final = Code(
    "import-declined",
    "The source has changed what somebody has removed from the design since it was imported. It stays "
    "removed.",
    "warning",
)
CONFLICT: Final = Code(
    "import-conflict",
    "The source has changed what somebody has edited in the design since it was imported. The edit stays, "
    "and the message says what the source has now. Write what you want; the next import keeps it. Or the "
    "source has another target in one place: an address, a request, the place of a credential, an argument. "
    "Then addresses are not accepted, guards stand on all that could be meant, and the conflict stays open "
    "until you accept the new target with --resolve.",
)
REMOVED: Final = Code(
    "import-removed",
    "The source no longer has what stands in the design, where it is edited, commented or in use, so that "
    "it stays. Remove it, if nothing needs it. The conflict stays open until you run --resolve.",
)
MORE_PAGES: Final = Code(
    "import-more-pages",
    "The list of tools is the first page of several (MCP, `nextCursor`). Put the tools of all pages into one "
    "file.",
    "warning",
)

IMPORTS: Final[Mapping[str, Code]] = MappingProxyType(
    {code.name: code for code in list(globals().values()) if isinstance(code, Code)}
)
"""The codes of this file by name."""
