"""A default above the maximum."""

from toolgen.dsl import Args, Attribute, Design, Int, Service, Tool, Toolset

search = Tool(
    "search",
    "Search the manuals.",
    Args(
        Attribute("limit", Int, "Most results.", maximum=500, default=1000),
    ),
)

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("documents", "Manuals.", search)))
