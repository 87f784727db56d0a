"""The diagnostics of agents; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

TWO_EXPORTERS: Final = Rule(
    "two-exporters",
    "toolset {name!r} is exported by the agents {first!r} and {second!r}",
    "export it from one of them",
    "The runs of one agent implement the tools of an exported toolset. A second agent that offers the "
    "same needs a toolset of its own.",
)
UNKNOWN_EXPORT: Final = Rule(
    "unknown-export",
    "AgentToolset names {what}, which {fault}",
    "{hint}",
    "`AgentToolset` names a service, one of its agents, and a toolset that this agent exports. The "
    "agent can be defined later.",
)
UNKNOWN_TOOL: Final = Rule(
    "unknown-tool",
    "{argument} of {clause} of agent {agent!r} names the tool {name!r}, which toolset {toolset!r} does "
    "not have",
    "{hint}",
    "`only`, `exclude`, `confirm` and `prompts` name tools of the toolset without a prefix.",
)
EMPTY_USE: Final = Rule(
    "empty-use",
    "Use of toolset {toolset!r} gives agent {agent!r} no tools",
    "exclude fewer tools, or remove the Use",
    "A `Use` without any tool has no effect and is usually a mistake.",
)
UNUSED_CONFIRM: Final = Rule(
    "unused-confirm",
    "confirm of Use names the tool {name!r}, which agent {agent!r} does not use",
    "remove it from confirm, or add it to the Use",
    "`confirm` selects tools among those that the agent uses.",
)
CONFIRM_PAYLOAD: Final = Rule(
    "confirm-payload",
    "Confirm of tool {tool!r} in a Use of agent {agent!r} has a payload",
    "move the payload to the Confirm of the tool",
    "The executor reads what a person adds to an approval, so the tool itself declares it, for all agents.",
)
REPEATED_USE: Final = Rule(
    "repeated-use",
    "agent {agent!r} uses {tools} of toolset {toolset!r} twice",
    "use it once",
    "An agent calls each tool by one name.",
)
WIRE_NAME_CLASH: Final = Rule(
    "wire-name-clash",
    "agent {agent!r} would call two tools {name!r}: {first} and {second}",
    'give one of them a prefix: Use(…, prefix="…")',
    "A model distinguishes the tools of an agent by their wire names: the prefix of the `Use`, the "
    "prefix of the toolset, and the name of the tool. Names that begin with `transfer_to_` are reserved "
    "for transfers.",
)
OWN_EXPORT: Final = Rule(
    "own-export",
    "agent {agent!r} uses the toolset {toolset!r}, which it exports itself",
    "remove the Use; the agent implements these tools with other tools",
    "A call of an exported tool is a run of the agent that exports it. An agent that calls its own "
    "exports would call itself.",
)
AGENT_CYCLE: Final = Rule(
    "agent-cycle",
    "agents {agents} only call each other: none of them has another tool",
    "give one of them a tool with an executor, or remove a Use",
    "Agents can call each other, up to a depth. If no agent of a cycle has another tool, they can only "
    "call each other.",
)
UNKNOWN_AGENT: Final = Rule(
    "unknown-agent",
    "Transfer of agent {agent!r} names {name!r}, which {fault}",
    "{hint}",
    "`Transfer` names other agents: `agent` in the same service, otherwise `service.agent`.",
)
EXPORTED_TOOL: Final = Rule(
    "exported-tool",
    "tool {tool!r} of the exported toolset {toolset!r} {fault}",
    "{hint}",
    "The runs of an agent implement an exported tool: its arguments become a message, and its result is "
    "the typed answer of the run. It has no executor, so it cannot be bound and cannot need "
    "capabilities.",
)
NO_STATE_KEY: Final = Rule(
    "no-state-key",
    "Instructions of agent {agent!r} contain {text!r}, which is not a state key, so it is not replaced",
    "write a key without spaces, such as {{user:name}}; to write literal braces, double them",
    "`{user:name}` in the instructions of an agent stands for a value of the state. A key consists of "
    "letters, digits and underscores, with the prefix `app:`, `user:`, `session:` or `temp:` or none; "
    "with `?` at its end, the value can be absent. Other braces, such as those of JSON, stay unchanged.",
    is_warning=True,
)
BAD_LIMIT: Final = Rule(
    "bad-limit",
    "{what} of {clause} of agent {agent!r} is {value}, but {fault}",
    "{hint}",
    "Limits of a run are above 0 and consistent: no planning and no call can take longer than the whole run.",
)
TOOLS_BUDGET: Final = Rule(
    "tools-budget",
    "the tools of agent {agent!r} need about {tokens} tokens, but its Budget is {limit}",
    "exclude tools with Use(exclude=…), shorten their descriptions, or raise tools_tokens; the "
    "largest are {largest}",
    "Each request describes every tool of the agent to the model. `toolgen schema --tokens` counts the "
    "tokens in the same way: one for four bytes of the name, the description and the schema of the "
    "arguments.",
)
NO_RETURN: Final = Rule(
    "no-return",
    "completion {name!r} has no Return",
    'add Return(Attribute("…", String, "…"))',
    "A completion is a typed answer of a model; `Return` declares the type.",
)
