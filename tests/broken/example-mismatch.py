"""An example with two mistakes, both in one message."""

from toolgen.dsl import Args, Attribute, Design, Example, Int, Service, String, Tool, Toolset

search = Tool(
    "search",
    "Search the manuals.",
    Args(
        Attribute("query", String, "What to look for.", required=True),
        Attribute("limit", Int, "Most results.", minimum=1),
    ),
    Example({"limit": 0}),
)

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("documents", "Manuals.", search)))
