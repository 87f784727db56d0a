"""The diagnostics of bindings between tools and methods; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

UNKNOWN_SERVICE: Final = Rule(
    "unknown-service",
    "BindTo of tool {tool!r} names the service {name!r}, which the design does not have",
    "{hint}",
    "`BindTo` names a service of the design, or leaves it out for a method of the toolset's own service.",
)
UNKNOWN_METHOD: Final = Rule(
    "unknown-method",
    "service {service!r} has no method {name!r}, to which tool {tool!r} is bound",
    "{hint}",
    "`BindTo` names a method that its service declares.",
)
UNNAMED_ERROR: Final = Rule(
    "unnamed-error",
    "error {name!r} of {owner} is an object without a name",
    'write Type("{proposal}", …) and give its name to Error, so that tools pass the error on as it is',
    "A tool that is bound to a method has the errors of the method too, with the same details: their types "
    "are named and shared.",
)
ERROR_MISMATCH: Final = Rule(
    "error-mismatch",
    "error {name!r} of tool {tool!r} is of {type}, and its method gives {other}",
    "give both the same type, or remove the error from the tool, which has those of its method",
    "A bound tool has the errors of its method. One that it declares itself may say more of it, with the "
    "same type.",
)
UNFILLED_PAYLOAD_FIELD: Final = Rule(
    "unfilled-payload-field",
    "method {method!r} requires {field!r} ({type}), which tool {tool!r} does not fill",
    "{hint}",
    "Every required field of a bound method's payload is filled by an argument, an injected field or a "
    "default.",
)
LOST_ARGUMENT: Final = Rule(
    "lost-argument",
    "argument {field!r} ({type}) of tool {tool!r} does not reach method {method!r}",
    "{hint}",
    "Every argument of a bound tool fills a field of the method's payload; what a model says is not "
    "dropped in silence.",
)
UNMARKED_SENSITIVE: Final = Rule(
    "unmarked-sensitive",
    "{field!r} of method {method!r} is sensitive, and {what} of tool {tool!r} is not",
    "{hint}",
    "A tool with `Args` or `Return` of its own says itself what of them is sensitive: what its catalogue "
    "entry and its codec hide is what stands there. It is not inherited in silence, since a type of the tool "
    "may stand in other tools too. A tool without them has those of its method, sensitive as there.",
)
UNFILLED_RESULT_FIELD: Final = Rule(
    "unfilled-result-field",
    "tool {tool!r} returns {field!r} ({type}), which method {method!r} does not give",
    "{hint}",
    "Every required field of a bound tool's result is filled by a field of the method's result.",
)
UNFILLED_ARTIFACT: Final = Rule(
    "unfilled-artifact",
    "tool {tool!r} has the artifact {kind!r}, which method {method!r} does not give",
    "{hint}",
    "An artifact of a bound tool is filled by a field of the method's result, of the same name or by "
    "`rename`. An executor written by hand gives its artifacts itself.",
)
BIND_MISMATCH: Final = Rule(
    "bind-mismatch",
    "{given} is {given_type}, but {taken} is {taken_type}",
    "{hint}",
    "A field that fills another fits its type. That is the same type, Int into Float, a smaller enum into a "
    "larger one or into String, Url into String, a value into Nullable, required into optional; arrays, "
    "maps, objects and unions part by part. Its constraints allow no more than those of the other; a "
    "pattern or a format goes into the same one, or into none. Else a call could fail although the model "
    "did nothing wrong.",
)
BAD_RENAME: Final = Rule(
    "bad-rename",
    "rename of tool {tool!r} {fault}",
    "{hint}",
    "`rename={field: attribute}` leads from a field of the method's payload or result to the tool's "
    "attribute of another name; both exist, and no two fields lead to one attribute.",
)
OPEN_REBUILD: Final = Rule(
    "open-rebuild",
    "{given} of {giver} is open, but {taker} does not get the keys beyond its attributes",
    "{hint}",
    "A tool and its method have classes of their own, and the generated code carries over the attributes "
    "one by one; keys that nobody named would be lost. An object of one named `Type` on both sides is "
    "passed on as it is. A closed result may take the attributes that it has from an open one.",
)
