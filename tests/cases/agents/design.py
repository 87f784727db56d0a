"""Agents: what they use, export and hand over to, and typed final answers."""

from toolgen.dsl import (
    Agent,
    AgentToolset,
    Args,
    ArrayOf,
    Attribute,
    Boolean,
    BoundedResult,
    Completion,
    Confirm,
    Design,
    Enum,
    Export,
    History,
    Instructions,
    Int,
    NativeTool,
    Return,
    RunPolicy,
    Service,
    String,
    Tool,
    Toolset,
    Transfer,
    Type,
    Use,
)

DEVICE = Attribute("device_id", String, "Device.", required=True)

Severity = Enum("Severity", "How bad it is.", "low", "high")
Reason = Type("Reason", "Why somebody agreed.", Attribute("text", String, "In a sentence.", required=True))
Finding = Type(
    "Finding",
    "What is wrong with a device.",
    DEVICE,
    Attribute("severity", Severity, "How bad.", required=True),
    Attribute("text", String, "In a sentence.", required=True),
)

devices = Toolset(
    "devices",
    "Find and change devices.",
    Instructions("Look for a device before you change it."),
    Tool(
        "list_devices",
        "List the devices of a site.",
        Args(Attribute("site", String, "Site.", required=True)),
        Return(Attribute("names", ArrayOf(String), "Their names.", required=True)),
        BoundedResult(),
    ),
    Tool(
        "reset_device",
        "Reset a device.",
        Args(DEVICE, Attribute("mode", String, "How much is lost.", enum=("soft", "hard"), default="soft")),
        Return(Attribute("done", Boolean, "Whether it was reset.", required=True)),
        Confirm("Reset {device_id}?", payload=Reason),
    ),
    Tool("delete_device", "Delete a device for good.", Args(DEVICE)),
    NativeTool("openai", "web_search", {"search_context_size": "low"}),
)

search = Toolset(
    "search",
    "What the provider runs.",
    Instructions("Search before you guess."),
    NativeTool("google", "google_search"),
)

garage_devices = Toolset(
    "devices",
    "What stands in the garage.",
    Tool("count", "Count what stands there.", Return(Attribute("count", Int, "How many.", required=True))),
)

notes = Toolset(
    "notes",
    "What an agent keeps to itself.",
    Tool("note", "Note something.", Args(Attribute("text", String, "What.", required=True))),
    prefix="my_",
)

checks = Toolset(
    "checks",
    "Find out what is wrong.",
    Instructions("Give the device's id."),
    Tool(
        "check_device",
        "Diagnose problems of devices.",
        Args(DEVICE, Attribute("question", String, "What to look for.")),
        Return(Attribute("findings", ArrayOf(Finding), "What was found.", required=True)),
    ),
    Tool(
        "check_site",
        "Find out what is wrong at a site.",
        Args(Attribute("site", String, "Site.", required=True)),
        Return(Attribute("findings", ArrayOf(Finding), "What was found.", required=True)),
    ),
)

design = Design(
    "agents",
    "Agents that help each other.",
    Service(
        "assistant",
        "Helps at home.",
        devices,
        search,
        Agent(
            "chat",
            "Talks with people.",
            Use(
                devices,
                only=("list_devices", "reset_device"),
                confirm={"reset_device": Confirm("Really reset {device_id}?", when={"mode": ("hard",)})},
            ),
            Use(search),
            Use(garage_devices, prefix="garage_"),
            Use(AgentToolset("assistant", "diagnostics", "checks")),
            Use(notes, prefix="chat_"),
            Transfer("diagnostics"),
            Instructions("You help {user:name?} with the home.\n\nSay {{no}} where you do not know."),
            RunPolicy(
                max_tool_calls=8,
                time_budget="2m",
                interrupts_allowed=True,
                on_missing_fields="await_clarification",
                history=History(keep_turns=10, summarize_after=20),
            ),
        ),
        Agent(
            "diagnostics",
            "Finds out what is wrong.",
            Use(devices, only=("list_devices",)),
            Export(
                checks, prompts={"check_device": "What is wrong with {device_id}? {{question}}: {question}"}
            ),
            Transfer("chat", "Garage.keeper"),
        ),
        Completion(
            "daily_report",
            "Summarize what happened in a day.",
            Return(
                Attribute("headline", String, "In a sentence.", required=True),
                Attribute("findings", ArrayOf(Finding), "What was wrong."),
            ),
        ),
        Completion(
            "title",
            "Name a conversation.",
            Return(Attribute("title", String, "At most five words.", required=True)),
        ),
    ),
    Service(
        "Garage",
        "The garage.",
        garage_devices,
        Agent("keeper", "Only listens."),
    ),
)
