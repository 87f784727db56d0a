"""Names that Python, pydantic or the generated modules have taken, and descriptions that need care."""

from decimal import Decimal as Number

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Decimal,
    Design,
    Int,
    Meta,
    Method,
    Nullable,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tags,
    Tool,
    Toolset,
    Type,
)

Field = Type(
    "Field", "A type called as pydantic's Field.", Attribute("value", String, "What it holds.", required=True)
)

Annotation = Type(
    "Annotated",
    "A type called as typing's Annotated.",
    Attribute("field", Field, "A field of that type.", required=True),
    Attribute("amount", Decimal, "An amount.", default=Number("1.50")),
)

Warning_ = Type(
    "Warning",
    "A type called as Python's exception, above a type that it names.",
    Attribute("sub-text", Nullable(String), "No identifier; null is a value."),
    Attribute("caused-by", ArrayOf("Cause"), "No identifier, of a type further down.", required=True),
)

Cause = Type("Cause", "Where a warning comes from.", Attribute("text", String, "In words."))

names = Toolset(
    "from",
    'Quotes: """, \', and a last "',
    Tool(
        "import",
        'Braces {like} {{ these }} {% if %}, a backslash \\ and quotes """.\n\n'
        "Second paragraph, indented:\n    code \\n\n\nThe end is a backslash \\",
        Args(
            Attribute("class", String, "A keyword.", required=True),
            Attribute("copy", String, "A method of pydantic's models."),
            Attribute("json", String, "Another one."),
            Attribute("model_config", String, "pydantic's settings."),
            Attribute("model_fields_set", Int, "What pydantic remembers."),
            Attribute("str", String, "A builtin that annotations name."),
            Attribute("list", ArrayOf(String), "Another one.", default=["a"]),
            Attribute("dt", String, "The alias of datetime."),
            Attribute("fooBar", String, "Camel case.", default="x"),
            Attribute("@id", String, "No identifier at all."),
            Attribute("2fa", String, "Starts with a digit."),
            Attribute("content-type", String, "A dash."),
            Attribute("日本", String, "Not ASCII: 日本語, émoji 🎉, a zero width\u200bspace, and \x07."),
            Attribute("_private", String, "A leading underscore."),
        ),
        Return(Attribute("result_bounds", Int, "A method of bounded results.", required=True)),
        Tags('a "quoted" tag'),
        Meta(note="it's", nested={"a": [1, None, True]}),
    ),
    Tool(
        "types",
        "A module.",
        Return(
            Attribute("annotated", Annotation, "It.", required=True),
            Attribute("warnings", ArrayOf("Warning"), "What is wrong with it."),
        ),
    ),
    Tool(
        "registration", "A function of the package.", Args(Attribute("self", String, "The first parameter."))
    ),
    Tool("specs", "Another module; its constant is taken.", Args(), Return()),
    Tool("tool_method", "A decorator of the executor's methods.", Args(), Return()),
    Tool("abstractmethod", "The other one.", Args(), Return()),
    prefix="odd_",
)

design = Design(
    "names",
    'Names that are taken: "design".',
    Service("lambda", "A service called as a keyword.", names),
    Service(
        "HTTPGate",
        "A service in capitals.",
        Method(
            "class", "A method called as a keyword.", Payload(Attribute("if", Int, "A keyword.")), Result()
        ),
    ),
    Warning_,
    Cause,
)
