"""What the diagnostics agent does for others: its tools have no executor, each call is a run of the agent."""

from toolgen import dsl as d

Certainty = d.Enum("Certainty", "Certainty of a finding.", "certain", "likely", "unclear")

checks = d.Toolset(
    "checks",
    "Diagnose problems of devices.",
    d.Tool(
        "diagnose",
        "Find out why a device does not work, from its readings and manual. Returns cause and advice.",
        d.Args(
            d.Attribute("device_id", d.String, "ID of the device; list_devices returns it.", required=True),
            d.Attribute("symptom", d.String, "Symptom that the user describes.", required=True),
            d.Attribute("session_id", d.String, "Session the call belongs to.", required=True),
        ),
        d.Return(
            d.Attribute("cause", d.String, "Cause of the problem in one sentence.", required=True),
            d.Attribute("certainty", Certainty, "Certainty of the cause.", required=True),
            d.Attribute("advice", d.ArrayOf(d.String), "Recommended steps, in order.", required=True),
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
