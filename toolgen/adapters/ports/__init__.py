"""Listening ports: which connections and requests are admitted, for how long, and from whom."""
