"""What the diagnostics agent does for others: its tools have no executor, each call is a run of the agent."""

from toolgen import dsl as d

Certainty = d.Enum("Certainty", "How sure a finding is.", "certain", "likely", "unclear")

checks = d.Toolset(
    "checks",
    "Find out what is wrong with a device.",
    d.Tool(
        "diagnose",
        "Find out why a device does not do what it should. Reads what it measured and what its manual says.",
        d.Args(
            d.Attribute("device_id", d.String, "Device to look into.", required=True),
            d.Attribute("symptom", d.String, "What the user sees.", required=True),
            d.Attribute("session_id", d.String, "Session the call belongs to.", required=True),
        ),
        d.Return(
            d.Attribute("cause", d.String, "What is wrong, in one sentence.", required=True),
            d.Attribute("certainty", Certainty, "How sure that is.", required=True),
            d.Attribute("advice", d.ArrayOf(d.String), "What to do, in order.", required=True),
        ),
        d.Inject("session_id"),
        d.Annotations(read_only=True),
        d.CallHint("Looking into {device_id}"),
        d.ResultHint("{cause}"),
        d.Example({"device_id": "h10", "symptom": "It does not answer."}),
    ),
)
PROMPTS = {
    "diagnose": "Find out what is wrong with the device {device_id}. The user says: {symptom}",
}
