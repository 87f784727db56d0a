"""A helper and a loop that make many tools with one mistake each."""

from toolgen.dsl import Annotations, Args, Attribute, Design, Int, Return, Service, Tool, Toolset

COUNT = Return(Attribute("count", Int, "How many there are.", required=True))


def counting(name: str) -> Tool:
    return Tool(name, "Count.", Args(Attribute("by", Int, "By how many.", minimum=5, maximum=2)), COUNT)


looped = [
    Tool(f"look_{number}", "Look.", COUNT, Annotations(read_only=True, destructive=True))
    for number in range(50)
]
things = Toolset(
    "things",
    "Things.",
    counting("first"),
    counting("second"),
    counting("third"),
    counting("fourth"),
    counting("fifth"),
    counting("sixth"),
    *looped,
)
design = Design("shop", "A shop.", Service("tools", "Tools.", things))
