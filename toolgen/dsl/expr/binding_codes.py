"""The diagnostics of bindings between tools and methods; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

UNKNOWN_SERVICE: Final = Rule(
    "unknown-service",
    "BindTo of tool {tool!r} names the service {name!r}, which the design does not have",
    "{hint}",
    "`BindTo` names a service of the design, or omits it for a method of the toolset's own service.",
)
UNKNOWN_METHOD: Final = Rule(
    "unknown-method",
    "tool {tool!r} is bound to method {name!r}, which service {service!r} does not have",
    "{hint}",
    "`BindTo` names a method that its service declares.",
)
UNNAMED_ERROR: Final = Rule(
    "unnamed-error",
    "error {name!r} of {owner} is an unnamed object",
    'write Type("{proposal}", …) and use it in Error, so that tools can pass the error on',
    "A bound tool has the errors of its method too, with the same details. So their types are named and "
    "shared.",
)
ERROR_MISMATCH: Final = Rule(
    "error-mismatch",
    "error {name!r} of tool {tool!r} has the type {type}, but its method has {other}",
    "use the same type for both, or remove the error from the tool, which inherits those of its method",
    "A bound tool has the errors of its method. If it declares one of them itself, for example with "
    "another description, the type must be the same.",
)
UNFILLED_PAYLOAD_FIELD: Final = Rule(
    "unfilled-payload-field",
    "method {method!r} requires {field!r} ({type}), which tool {tool!r} does not fill",
    "{hint}",
    "An argument, an injected field or a default must fill every required field of a bound method's payload.",
)
LOST_ARGUMENT: Final = Rule(
    "lost-argument",
    "argument {field!r} ({type}) of tool {tool!r} does not reach method {method!r}",
    "{hint}",
    "Every argument of a bound tool fills a field of the method's payload, so that nothing that a model "
    "sends is dropped silently.",
)
UNMARKED_SENSITIVE: Final = Rule(
    "unmarked-sensitive",
    "{field!r} of method {method!r} is sensitive, but {what} of tool {tool!r} is not",
    "{hint}",
    "A tool with its own `Args` or `Return` marks sensitive values itself: its catalog entry and its "
    "codec redact what is marked there. Marks are not inherited, because a type of the tool can occur "
    "in other tools too. A tool without them has those of its method, including the marks.",
)
UNFILLED_RESULT_FIELD: Final = Rule(
    "unfilled-result-field",
    "tool {tool!r} returns {field!r} ({type}), which method {method!r} does not return",
    "{hint}",
    "A field of the method's result must fill every required field of a bound tool's result.",
)
UNFILLED_ARTIFACT: Final = Rule(
    "unfilled-artifact",
    "tool {tool!r} has the artifact {kind!r}, which method {method!r} does not return",
    "{hint}",
    "A field of the method's result fills an artifact of a bound tool, by the same name or by `rename`. "
    "An executor that you write yourself returns its artifacts itself.",
)
BIND_MISMATCH: Final = Rule(
    "bind-mismatch",
    "{given} is {given_type}, but {taken} is {taken_type}",
    "{hint}",
    "A field that fills another one must fit its type: the same type, Int into Float, a smaller enum "
    "into a larger one or into String, Url into String, a value into Nullable, required into optional; "
    "arrays, maps, objects and unions part by part. Its constraints must not allow more than those of "
    "the other field, and a pattern or a format fits only into the same one or into none. Otherwise a "
    "valid call could fail.",
)
BAD_RENAME: Final = Rule(
    "bad-rename",
    "rename of tool {tool!r} {fault}",
    "{hint}",
    "`rename={field: attribute}` connects a field of the method's payload or result to the tool's "
    "attribute with another name. Both must exist, and no two fields lead to one attribute.",
)
OPEN_REBUILD: Final = Rule(
    "open-rebuild",
    "{given} of {giver} is open, but {taker} does not receive keys beyond its attributes",
    "{hint}",
    "A tool and its method have their own classes, and the generated code copies the attributes one by "
    "one, so keys that no attribute names would be lost. An object of one named `Type` on both sides is "
    "passed on unchanged. A closed result can take its attributes from an open one.",
)
