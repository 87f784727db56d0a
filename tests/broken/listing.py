"""What is said of tools for those who choose them, with mistakes."""

from toolgen.dsl import Artifact, Attribute, Deprecated, Design, Icon, Int, Object, Service, Tool, Toolset

ROWS = Object(Attribute("count", Int, "How many."))

lamps = Toolset(
    "lamps",
    "Lamps.",
    Tool("switch", "Switch a lamp.", Deprecated("Use dim.", replacement="dimm"), Icon("lamp.svg")),
    Tool("dim", "Dim a lamp.", Deprecated("Use switch.", replacement="switch")),
    Tool("glow", "Let a lamp glow.", Deprecated("Dull.", replacement="glow"), Deprecated("Duller.")),
    Tool("blink", "Let a lamp blink.", Deprecated("", replacement="blinds.move")),
    Tool("fade", "Let a lamp fade.", Deprecated("Slow.", replacement="move")),
    Tool(
        "count_lamps",
        "Count the lamps.",
        Artifact("rows", ROWS, "All of them.", view="chart.pie"),  # type: ignore[arg-type]
        Icon("https://example.org/a.png", mime_type="text/html", sizes=("48", "any")),
        Icon("data:text/html;base64,PGI+", theme="blue"),  # type: ignore[arg-type]
    ),
)
blinds = Toolset("blinds", "Blinds.", Tool("move", "Move a blind."))
design = Design("home", "A home.", Service("hall", "The hall.", lamps, blinds), version="1.04.0")
