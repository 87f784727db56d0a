"""The activities of a run: all that it does outside its loop, such as planning and tool calls."""
