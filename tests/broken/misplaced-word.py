"""An attribute that stands in the tool itself."""

from toolgen.dsl import Attribute, Design, Service, String, Tool, Toolset

search = Tool("search", "Search the manuals.", Attribute("query", String, "What to look for.", required=True))

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("documents", "Manuals.", search)))
