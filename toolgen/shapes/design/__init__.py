"""Types of a design: their schema, their validators, their base."""
