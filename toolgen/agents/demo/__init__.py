"""The planner `demo`: it matches words without a model, works offline, and reports what it did."""
