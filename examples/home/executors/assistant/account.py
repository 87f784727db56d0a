"""Executes the tools of assistant.account in home."""

from gen.assistant.toolsets import account


class Account(account.BoundAccountExecutor):
    """Data about the user of the session."""
