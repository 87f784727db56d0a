"""Two Args."""

from toolgen.dsl import Args, Attribute, Design, Int, Service, String, Tool, Toolset

search = Tool(
    "search",
    "Search the manuals.",
    Args(Attribute("query", String, "What to look for.", required=True)),
    Args(Attribute("limit", Int, "Most results.")),
)

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("documents", "Manuals.", search)))
