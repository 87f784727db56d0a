"""Who decides what a run does: the protocol of planners, messages, typed completions."""
