"""The classes of faults, and the interfaces at which each is held: `table.toml` names the tests."""
