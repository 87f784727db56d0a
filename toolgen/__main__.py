"""`python -m toolgen`."""

from toolgen.cli import command

raise SystemExit(command())
