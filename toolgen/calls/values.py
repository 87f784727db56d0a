"""Values by typed keys: shared by the hooks and tools of a turn, and the capabilities of a host."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Key(Generic[T]):
    """The typed key of a value: of a host's capability, or of values that hooks and tools share.

    Of shared values two keys of one name are two.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Key({self.name!r})"


class Values:
    """Values that hooks and tools share, by typed key; never stored."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[Key[Any], Any] = {}

    def __getitem__(self, key: Key[T]) -> T:
        """Return the value.

        Raises:
            KeyError: nobody has set it.
        """
        return self._values[key]  # type: ignore[no-any-return]  # set under the same key

    def __setitem__(self, key: Key[T], value: T) -> None:
        self._values[key] = value

    def __contains__(self, key: Key[Any]) -> bool:
        return key in self._values

    def get(self, key: Key[T], default: T) -> T:
        found: T = self._values.get(key, default)
        return found
