"""Names that several files of the tree share, created by `shapes.naming`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from toolgen.contract.tool_facts import Error
from toolgen.dsl.expr.tree import ClientKind, Completion, Method, Service, Tool, Toolset
from toolgen.shapes.naming import (
    class_name,
    completion_functions,
    constant,
    method_name,
    module_name,
    snake,
)

NATIVE_TOOLS = "NATIVE_TOOLS"
_TRANSFORM_NAMES = frozenset("dict dt given item key len list payload result shared_types value".split())


def spec(tool: Tool) -> str:
    return constant(tool.name)


def codec(class_: str) -> str:
    """Return the codec's constant: `ListDevicesPayload` gives `LIST_DEVICES_PAYLOAD`."""
    return constant(snake(class_))


def payload_codec(tool: Tool) -> str:
    return constant(tool.name, "payload")


def result_codec(tool: Tool) -> str:
    return constant(tool.name, "result")


def artifact_spec(tool: Tool, kind: str) -> str:
    return constant(tool.name, kind)


def error_spec(owner: Tool | Method, error: Error[str]) -> str:
    return constant(owner.name, error.name)


def executor(toolset: Toolset) -> str:
    return class_name(toolset.name, "executor")


def bound_executor(toolset: Toolset) -> str:
    return class_name("bound", toolset.name, "executor")


def client(service: Service, kind: ClientKind) -> str:
    """Return the class that implements the methods with a transport: `BooksClient`, `RoomsFunctions`."""
    return class_name(service.name, kind)


def service_method(service: Service, method: Method) -> str:
    """Return the method name in the protocol of a service; clients reserve some names."""
    return method_name(method.name, of_client=bool(service.clients))


def apart(names: Mapping[str, str], taken: Collection[str], word: str) -> dict[str, str]:
    """Return constants by key; a constant that is already taken gets the suffix `word`."""
    constants = dict[str, str]()
    for key, name in names.items():
        while name in taken or name in constants.values():
            name = constant(name, word)
        constants[key] = name
    return constants


def stub_module(toolset: Toolset) -> str:
    """Return the name under which a stub imports the toolset; a method of this name would hide it."""
    return unused_name(module_name(toolset.name), {method_name(tool.name) for tool in toolset.tools})


def to_method_payload(tool: Tool) -> str:
    return f"to_{tool.name}_method_payload"


def to_result(tool: Tool) -> str:
    return f"to_{tool.name}_result"


def to_artifact(tool: Tool, kind: str) -> str:
    return f"to_{tool.name}_{snake(kind)}_artifact"


def service_module(service: str) -> str:
    """Return the name under which transforms import a service's module."""
    name = method_name(module_name(service))
    return f"{name}_service" if name in _TRANSFORM_NAMES else name


def wire(toolset: Toolset, tool: Tool) -> str:
    """Return the name that the model calls."""
    return f"{toolset.prefix}{tool.name}"


def qualified(toolset: Toolset) -> str:
    """Return the name under which a runtime knows a toolset: `service.toolset`."""
    return f"{toolset.service}.{toolset.name}"


def toolset_names(toolsets: Sequence[Toolset], taken: Collection[str]) -> list[str]:
    """Return a name for each toolset: its own, or with the name of its service if it is taken."""
    own = [module_name(toolset.name) for toolset in toolsets]
    names: list[str] = []
    for toolset, name in zip(toolsets, own, strict=True):
        if own.count(name) > 1 or name in taken:
            name = f"{snake(toolset.service)}_{snake(toolset.name)}"
        names.append(unused_name(name, {*names, *taken}))
    return names


def unused_name(name: str, taken: Collection[str]) -> str:
    """Return the name, followed by `_toolset` until it is not in `taken`."""
    while name in taken:
        name += "_toolset"
    return name


def completion(completion: Completion) -> str:
    return constant(completion.name)


def offered(of: Completion) -> tuple[str, str, str]:
    """Return the exported names of a completion: its constant and its functions."""
    return completion(of), completing(of), streaming(of)


def completing(completion: Completion) -> str:
    return completion_functions(completion.name)[0]


def streaming(completion: Completion) -> str:
    return completion_functions(completion.name)[1]
