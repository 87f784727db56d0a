"""What the diagnostics agent does for others: its tools have no executor, each call is a run of the agent."""

from toolgen.dsl import (
    Annotations,
    Args,
    ArrayOf,
    Attribute,
    CallHint,
    Enum,
    Example,
    Inject,
    ResultHint,
    Return,
    String,
    Tool,
    Toolset,
)

Certainty = Enum("Certainty", "How sure a finding is.", "certain", "likely", "unclear")

checks = Toolset(
    "checks",
    "Find out what is wrong with a device.",
    Tool(
        "diagnose",
        "Find out why a device does not do what it should. Reads what it measured and what its manual says.",
        Args(
            Attribute("device_id", String, "Device to look into.", required=True),
            Attribute("symptom", String, "What the user sees.", required=True),
            Attribute("session_id", String, "Session the call belongs to.", required=True),
        ),
        Return(
            Attribute("cause", String, "What is wrong, in one sentence.", required=True),
            Attribute("certainty", Certainty, "How sure that is.", required=True),
            Attribute("advice", ArrayOf(String), "What to do, in order.", required=True),
        ),
        Inject("session_id"),
        Annotations(read_only=True),
        CallHint("Looking into {device_id}"),
        ResultHint("{cause}"),
        Example({"device_id": "h10", "symptom": "It does not answer."}),
    ),
)
PROMPTS = {
    "diagnose": "Find out what is wrong with the device {device_id}. The user says: {symptom}",
}
