"""A name that fits alone, but not behind the toolset's prefix."""

from toolgen.dsl import Design, Service, Tool, Toolset

documents = Toolset(
    "documents",
    "Manuals.",
    Tool("search_all_the_manuals_of_all_the_devices_of_one_site", "Search."),
    prefix="home_documents_",
)

design = Design("home", "A home.", Service("assistant", "Helps.", documents))
