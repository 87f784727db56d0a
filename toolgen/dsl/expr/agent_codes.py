"""The diagnostics of agents; rows of the table in `codes`."""

from __future__ import annotations

from typing import Final

from .rule import Rule

TWO_EXPORTERS: Final = Rule(
    "two-exporters",
    "toolset {name!r} is exported by the agents {first!r} and {second!r}",
    "export it from one of them",
    "The tools of an exported toolset are implemented by the runs of one agent. A second agent that "
    "offers the same has a toolset of its own.",
)
UNKNOWN_EXPORT: Final = Rule(
    "unknown-export",
    "AgentToolset names {what}, which {fault}",
    "{hint}",
    "`AgentToolset` names a service, an agent of it, and a toolset that this agent exports. It may "
    "stand before the agent that it names.",
)
UNKNOWN_TOOL: Final = Rule(
    "unknown-tool",
    "{argument} of {clause} of agent {agent!r} names the tool {name!r}, which toolset {toolset!r} does "
    "not have",
    "{hint}",
    "`only`, `exclude`, `confirm` and `prompts` name tools of the toolset by their own names, without a"
    " prefix.",
)
EMPTY_USE: Final = Rule(
    "empty-use",
    "Use of toolset {toolset!r} leaves agent {agent!r} no tool",
    "name fewer tools in exclude, or remove the Use",
    "An agent uses a toolset for its tools. One that leaves none of them has no effect, and is mostly a"
    " mistake.",
)
UNUSED_CONFIRM: Final = Rule(
    "unused-confirm",
    "confirm of Use names the tool {name!r}, which agent {agent!r} does not use",
    "remove it from confirm, or let Use have it",
    "`confirm` says of which of the used tools a person is asked.",
)
CONFIRM_PAYLOAD: Final = Rule(
    "confirm-payload",
    "Confirm of tool {tool!r} in a Use of agent {agent!r} has a payload",
    "write the payload in the Confirm of the tool itself",
    "What a person may add to an approval is read by the executor, so the tool says it, for all its agents.",
)
REPEATED_USE: Final = Rule(
    "repeated-use",
    "agent {agent!r} uses {tools} of toolset {toolset!r} twice",
    "use it once",
    "An agent calls a tool by one name.",
)
WIRE_NAME_CLASH: Final = Rule(
    "wire-name-clash",
    "agent {agent!r} would call two tools {name!r}: {first} and {second}",
    'give one of them a prefix: Use(…, prefix="…")',
    "A model tells the tools of an agent apart by their wire names: the prefix of the `Use`, the prefix"
    " of the toolset, and the name of the tool. Names that begin with `transfer_to_` are kept for "
    "transfers.",
)
OWN_EXPORT: Final = Rule(
    "own-export",
    "agent {agent!r} uses the toolset {toolset!r}, which it exports itself",
    "remove the Use; the agent has the tools that it needs to implement them",
    "A call of an exported tool is a run of the agent that exports it. An agent that calls its own "
    "exports calls itself.",
)
AGENT_CYCLE: Final = Rule(
    "agent-cycle",
    "agents {agents} call one another, and none of them has another tool",
    "give one of them a tool with an executor, or remove a Use",
    "Agents may call one another, up to a depth. Where none of a circle has a tool of its own, nothing "
    "but calls of agents can ever come of it.",
)
UNKNOWN_AGENT: Final = Rule(
    "unknown-agent",
    "Transfer of agent {agent!r} names {name!r}, which {fault}",
    "{hint}",
    "`Transfer` names other agents: by name in the same service, else as `service.agent`.",
)
EXPORTED_TOOL: Final = Rule(
    "exported-tool",
    "tool {tool!r} of the exported toolset {toolset!r} {fault}",
    "{hint}",
    "An exported tool is implemented by the runs of an agent: it gets its arguments as a message, and "
    "its result is the typed answer of the run. There is no executor that could be bound, and none that"
    " needs capabilities.",
)
NO_STATE_KEY: Final = Rule(
    "no-state-key",
    "Instructions of agent {agent!r} have {text!r}, which is no value of the state, and stays as it is",
    "write {{user:name}}, a key without spaces; or double the braces, if they are meant as braces",
    "`{user:name}` in the instructions of an agent stands for a value of the state. A key has letters, "
    "digits and underscores, behind `app:`, `user:`, `session:` or `temp:`, or behind nothing; `?` at its "
    "end lets the value be absent. Other braces, such as those of JSON, stay as they are.",
    is_warning=True,
)
BAD_LIMIT: Final = Rule(
    "bad-limit",
    "{what} of {clause} of agent {agent!r} is {value}, and {fault}",
    "{hint}",
    "Limits of a run are above 0, and fit into one another: no planning and no call may take longer "
    "than the whole run.",
)
TOOLS_BUDGET: Final = Rule(
    "tools-budget",
    "the tools of agent {agent!r} are about {tokens} tokens, and its Budget is {limit}",
    "leave tools out by Use(exclude=…), shorten their descriptions, or raise tools_tokens; the largest are "
    "{largest}",
    "Each request tells the model of each tool of the agent. `toolgen schema --tokens` counts them in the "
    "same way: a token for four bytes of the name, the description and the schema of the arguments.",
)
NO_RETURN: Final = Rule(
    "no-return",
    "completion {name!r} has no Return",
    'add Return(Attribute("…", String, "…"))',
    "A completion is a typed answer of a model; `Return` says its type.",
)
