"""What other frameworks write: an agent as a tool of another one, words of other clauses, types last."""

from toolgen.dsl import (
    Agent,
    Args,
    Attribute,
    Completion,
    Design,
    History,
    Method,
    Payload,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    Use,
)
from toolgen.dsl.http import GET

TEXT = Attribute("text", String, "A text.", required=True)
notes = Toolset(
    "notes",
    "Notes.",
    Tool("add_note", "Add a note.", Payload(TEXT)),  # type: ignore[arg-type]
    Tool("find_note", "Find a note.", Args(TEXT)),
)
clerk = Agent("clerk", "Keeps notes.", Use(notes))
chat = Agent("chat", "Talks.", Use(clerk))  # type: ignore[arg-type]
Note = Type("Note", "A note.", TEXT)
save = Method("save", "Save a note.", Args(TEXT), Return(Note), GET("/notes"))  # type: ignore[arg-type]
loose = Tool("loose", "Is in no toolset.")
guide = Agent("guide", "Guides.", notes, loose, History(keep_turns=3))  # type: ignore[arg-type]
guest = Agent("guest", "Visits.", Use(loose), Use("notes"))  # type: ignore[arg-type]
report = Completion("report", "Reports.", Note)  # type: ignore[arg-type]
rows = Tool("rows", "List rows.", Args(Attribute("row", "A row.", String)))  # type: ignore[arg-type]
more = Toolset("more", "More.", rows)
notebook = Service("notebook", "Notes.", notes, clerk, chat, save, guide, guest, report, more)
design = Design("notes", "Notes.", notebook)
