"""What the same calls and runs cost in other frameworks, each in an environment of its own (`make bench`).

A script imports its framework, pydantic and `benchmarks.bare`, and prints JSON; `benchmarks.report` starts
it.
"""
