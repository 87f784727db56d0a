"""Executes the tools of assistant.account in home."""

from gen.assistant.toolsets import account


class Account(account.BoundAccountExecutor):
    """What the assistant knows about its user."""
