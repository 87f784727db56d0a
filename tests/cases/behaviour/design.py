"""What tools ask of those who run them: approval, time, order, and words for people and models."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    Bookkeeping,
    Boolean,
    BoundedResult,
    CallHint,
    Confirm,
    Deprecated,
    Design,
    Icon,
    Inject,
    Instructions,
    Int,
    LongRunning,
    NativeTool,
    Needs,
    Object,
    ResultHint,
    ResultReminder,
    Return,
    Sequential,
    Service,
    String,
    Terminal,
    Timeout,
    Tool,
    Toolset,
    Type,
)

DEVICE = Attribute("device_id", String, "Device.", required=True)

Reason = Type("Reason", "Why somebody agreed.", Attribute("text", String, "In a sentence.", required=True))

reset = Tool(
    "reset_device",
    "Reset a device.",
    Args(
        DEVICE,
        Attribute("mode", String, "How much is lost.", enum=("soft", "hard", "factory"), default="soft"),
        Attribute("force", Boolean, "Even if it is in use.", default=False),
        Attribute("session_id", String, "Session of the call.", required=True),
    ),
    Return(Attribute("done", Boolean, "Whether it was reset.", required=True)),
    Inject("session_id"),
    Confirm(
        hint='Reset {device_id} ({mode})? {{It}} can\'t be undone: "{force}"',
        when={"mode": ("hard", "factory"), "force": True},
        payload=Object(Attribute("keep_name", Boolean, "Whether the name stays.", default=True)),
    ),
    Timeout("90s"),
    Sequential(),
    Needs("state", "artifacts"),
)

design = Design(
    "behaviour",
    "Behaviour.",
    Service(
        "home",
        "A home.",
        Toolset(
            "devices",
            "Devices.",
            Instructions(
                """
                Look for a device before you change it.
                Ask when several have that name.
                """
            ),
            reset,
            Tool(
                "update_firmware",
                "Update the firmware of a device.",
                Args(DEVICE),
                Return(Attribute("version", String, "What runs now.", required=True)),
                Artifact("reason", Reason, "Why.", view="markdown", audience="model"),
                Confirm(payload=Reason),
                LongRunning(
                    ack=Object(Attribute("minutes", Int, "Expected duration in minutes.", required=True)),
                    progress=Object(
                        Attribute("percent", Int, "Progress in percent.", required=True),
                        Attribute("step", Object(Attribute("name", String, "Its name.")), "What is done."),
                    ),
                ),
                Timeout("500ms"),
                Instructions("Say how long it takes."),
                CallHint("Updating {device_id}"),
                ResultHint("{device_id} is not shown: {version}".replace("{device_id}", "{{device_id}}")),
            ),
            Tool(
                "list_devices",
                "List the devices.",
                Return(Attribute("names", ArrayOf(String), "Their names.", required=True)),
                BoundedResult(),
                CallHint("Looking for devices"),
                ResultHint("{returned} of {total}"),
                ResultReminder("Names are not unique."),
            ),
            Tool("note", "Note something.", Args(Attribute("text", String, "What.")), Bookkeeping()),
            Tool("finish", "End the conversation.", LongRunning(ack=Reason), Confirm()),
            Tool("measure", "Measure for a day.", Return(Attribute("low", Int, "The least.")), LongRunning()),
            Tool(
                "look",
                "Look at a device.",
                Args(DEVICE),
                Icon("https://example.org/eye.svg", mime_type="image/svg+xml", sizes=["any"]),
                Icon("https://example.org/eye.png", sizes=("48x48", "96x96"), theme="dark"),
            ),
            Tool(
                "measure_now",
                "Measure at once.",
                Deprecated("Measures nothing any more.", replacement="home.devices.measure"),
            ),
            Tool("answer", "Answer.", Terminal(), Confirm("Answer?"), Timeout("1.5h")),
            NativeTool("openai", "web_search", {"search_context_size": "low", "filters": ["a", {"b": None}]}),
            NativeTool("anthropic", "code_execution"),
        ),
        Toolset(
            "gemini",
            "What Gemini runs.",
            NativeTool("google", "google_search"),
            Instructions("Search before you guess."),
        ),
    ),
    version="1.4.0-rc.1",
)
