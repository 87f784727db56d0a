"""A toolset in two services."""

from toolgen.dsl import Design, Service, Tool, Toolset

documents = Toolset("documents", "Manuals.", Tool("search", "Search."))

design = Design(
    "home",
    "A home.",
    Service("assistant", "Helps.", documents),
    Service("librarian", "Keeps the books.", documents),
)
