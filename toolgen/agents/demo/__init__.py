"""The planner `demo`: it matches words, asks no model, works offline, and says what it did."""
