"""Ports that others connect to: which connections and requests are admitted, for how long, and of whom."""
