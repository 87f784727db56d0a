"""Types of pydantic errors about third-party types, and the labels in their locations."""

from __future__ import annotations

from typing import Final

NOT_AMONG: Final = "toolgen_not_among"
"""Error type of a value that is not in the context's `allowed`, a JSON array as text."""
UNKNOWN_KEY: Final = "toolgen_unknown_key"
"""Error type of a key that is not in the context's `allowed`."""
NO_BRANCH: Final = "toolgen_no_branch"
"""Error type of an object whose `tag` property is not in the context's `allowed`."""

LABEL: Final = "\0"
"""Prefix of every step in the location of an error that is not a key."""
BRANCH: Final = LABEL + "branch "
"""Prefix of the label for one branch of a union."""
TAGGED: Final = LABEL + "tagged"
"""Step after the tag of a union, which pydantic puts into the location."""
BOUNDARY: Final = LABEL + "foreign"
"""Step at which a foreign value begins inside a designed one."""
PASSED: Final = LABEL + "passed"
"""Step for all branches of a union, if several might accept a value; it does not change the location."""
