"""Types of pydantic errors about third-party types, and the labels in their locations."""

from __future__ import annotations

from typing import Final

NOT_AMONG: Final = "toolgen_not_among"
"""Error type of a value that is none of those in the context's `allowed`, a JSON array as text."""
UNKNOWN_KEY: Final = "toolgen_unknown_key"
"""Error type of a key that is none of those in the context's `allowed`."""
NO_BRANCH: Final = "toolgen_no_branch"
"""Error type of an object whose `tag` property is none of those in the context's `allowed`."""

LABEL: Final = "\0"
"""Starts every step that is put into the location of an error without being a key."""
BRANCH: Final = LABEL + "branch "
"""Starts the label of one branch of a union."""
TAGGED: Final = LABEL + "tagged"
"""Follows the tag of a union, which pydantic puts into the location."""
BOUNDARY: Final = LABEL + "foreign"
"""Stands where a foreign value begins inside a designed one."""
PASSED: Final = LABEL + "passed"
"""Stands for all branches of a union, where several may accept a value; it says nothing of the place."""
