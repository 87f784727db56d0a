"""A policy that asks Cedar: `pip install cedarpy`, and then `python -m examples.cedar_policy`."""

from __future__ import annotations

import asyncio
import json

from cedarpy import Decision, PolicySet, is_authorized

from toolgen.engines import InProcessEngine
from toolgen.runtime import Allow, Ask, CallMeta, Deny, Runtime, ToolCall, ToolSpec
from toolgen.runtime.functions import func_tool, function_toolset
from toolgen.runtime.rules import ArgumentPattern

POLICIES = PolicySet.from_str("""
    permit (principal, action == Action::"run", resource) when { context.read_only };
    permit (principal == Person::"ann", action == Action::"ask", resource) when { context.in_data };
    forbid (principal, action, resource == Tool::"disk.files.purge");
""")
DATA = ArgumentPattern.from_json({"/path": {"path_prefix": "/srv/data"}})


class CedarPolicy:
    """Allow, ask or deny as the Cedar policies permit.

    The context contains facts that Python has checked, not the raw path: a text comparison such as Cedar's
    `like` does not know how a path is read. Cedar has no null and no fractions. A request that contains one
    is an error, which permits nothing.
    """

    async def decide(self, call: ToolCall, spec: ToolSpec, preview: str) -> Allow | Ask | Deny:
        context = {**spec.hints, "in_data": DATA.matches(json.loads(call.payload_json))}
        for action, decision in (("run", Allow()), ("ask", Ask())):
            request = {
                "principal": {"type": "Person", "id": call.meta.requested_by},
                "action": {"type": "Action", "id": action},
                "resource": {"type": "Tool", "id": spec.id},
                "context": context,
            }
            if is_authorized(request, POLICIES, []).decision == Decision.Allow:
                return decision
        return Deny(message=f"no policy permits {spec.name} with these arguments")


async def read(path: str) -> str:
    """Read a file."""
    return f"contents of {path}"


async def delete(path: str) -> str:
    """Delete a file."""
    return f"{path} was deleted"


async def main() -> None:
    tools = [
        func_tool(read, toolset="disk.files", annotations={"read_only": True}),
        func_tool(delete, toolset="disk.files", annotations={"destructive": True}),
    ]
    runtime = Runtime(policy=CedarPolicy(), engine=InProcessEngine())
    runtime.tools.register(function_toolset("disk.files", tools))
    for name, path, user in [
        ("read", "/etc/motd", "bob"),
        ("delete", "/srv/data/a", "ann"),
        ("delete", "/srv/data/a", "bob"),
        ("delete", "/srv/data/../a", "ann"),
    ]:
        result = await runtime.call(name, {"path": path}, CallMeta(session_id="s-1", requested_by=user))
        print(name, path, user, result.status)


if __name__ == "__main__":
    asyncio.run(main())
