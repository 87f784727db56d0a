"""What other frameworks write: an agent as a tool of another one, and words of methods in a tool."""

from toolgen.dsl import Agent, Args, Attribute, Design, Payload, Service, String, Tool, Toolset, Use

TEXT = Attribute("text", String, "A text.", required=True)
notes = Toolset(
    "notes",
    "Notes.",
    Tool("add_note", "Add a note.", Payload(TEXT)),
    Tool("find_note", "Find a note.", Args(TEXT)),
)
clerk = Agent("clerk", "Keeps notes.", Use(notes))
chat = Agent("chat", "Talks.", Use(clerk))  # type: ignore[arg-type]
design = Design("notes", "Notes.", Service("notebook", "Notes.", notes, clerk, chat))
