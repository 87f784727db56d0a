"""Names that several files of one toolset share, made of `contract.naming`."""

from __future__ import annotations

from toolgen.contract.naming import class_name, constant, method_name, module_name, snake
from toolgen.expr.tree import Tool, Toolset

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


def executor(toolset: Toolset) -> str:
    return class_name(toolset.name, "executor")


def bound_executor(toolset: Toolset) -> str:
    return class_name("bound", toolset.name, "executor")


def stub_module(toolset: Toolset) -> str:
    """Return the name under which a stub imports the toolset; a method of this name would hide it."""
    name, methods = module_name(toolset.name), {method_name(tool.name) for tool in toolset.tools}
    while name in methods:
        name += "_toolset"
    return name


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
