"""Tools of MCP servers: the service has one toolset, its agent uses a part of the other."""

from toolgen.dsl import Agent, Design, MCPToolset, Service, Use

git = MCPToolset("git", lock="git.mcp.json", title="Repository")
memory = MCPToolset("memory", lock="memory.mcp.json", prefix="memory_")

design = Design(
    "mcp",
    "Tools of MCP servers.",
    Service(
        "helper",
        "Helps with a repository.",
        git,
        Agent("clerk", "Remembers.", Use(memory, only=["read_graph", "search_nodes"])),
    ),
)
