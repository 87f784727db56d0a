"""An attribute beside a type."""

from toolgen.dsl import Args, Attribute, Design, Int, Service, String, Tool, Toolset, Type

Query = Type("Query", "A question.", Attribute("text", String, "Its words.", required=True))
search = Tool("search", "Search the manuals.", Args(Query, Attribute("limit", Int, "Most results.")))

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("documents", "Manuals.", search)))
