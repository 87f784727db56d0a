"""The activities of a run: all its work outside the loop, such as planning and tool calls."""
