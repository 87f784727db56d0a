"""Answers of a resumed call, as its executor reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import to_json

from toolgen.contract.limits import UNLIMITED, portable_text
from toolgen.contract.logs import logger
from toolgen.contract.record import record

from .errors import ToolValidationError

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .codec import Codec
    from .specs import ToolSpec

T = TypeVar("T")

log = logger("toolgen.runtime")


@record
class Resumption:
    """The answers with which a suspended call is resumed."""

    answers: tuple[Json, ...]
    """`answer_document` documents: all answers to this call, newest last."""
    key: str = ""
    """Idempotency key that the call had before it was suspended."""

    @property
    def answer(self) -> Json:
        """Newest answer, as received."""
        newest: Json = _facts(self.answers[-1])["answer"]
        return newest

    @property
    def resume_state(self) -> Json:
        """Value that the executor stored with its newest question; None if there is none."""
        state: Json = _facts(self.answers[-1]).get("resume_state")
        return state

    @property
    def is_approved(self) -> bool:
        """Whether a person has given the approval that the design or the policy requires."""
        return any(
            document["kind"] == "confirmation" and not document.get("by_tool") for document in self._all()
        )

    def approved(self, question: str) -> bool:
        """Return whether a person has approved this question of the tool's executor."""
        return any(document.get("by_tool") and _is_to(document, question) for document in self._all())

    def answered(self, type_: type[T], question: str | None, spec: ToolSpec | None) -> T | None:
        """Return the newest answer to a question of this type, with defaults; None if there is none."""
        for document in reversed(self._all()):
            if question is not None and not _is_to(document, question):
                continue
            codec: Codec[T] | None
            if document["kind"] == "confirmation":
                confirm = spec.confirm if spec is not None else None
                codec = confirm.payload if confirm is not None else None
                if codec is not None and codec.type is type_:
                    return _fitting(codec, document["answer"].get("payload") or {})
            elif document["kind"] == "input":
                from .functions.questions import (  # only a typed question needs them
                    question_codec,
                    question_schema,
                )

                if document.get("schema") == question_schema(type_):
                    return _fitting(question_codec(type_), document["answer"])
        return None

    def _all(self) -> list[dict[str, Any]]:
        return [_facts(answer) for answer in self.answers]


def _is_to(answer: Mapping[str, object], question: str) -> bool:
    """Return whether an earlier answer is for a question, in the executor's wording."""
    return bool(answer.get("own_question", answer.get("question")) == portable_text(question))


def _facts(document: Json) -> dict[str, Any]:
    return document if isinstance(document, dict) else {"kind": "", "answer": document}


def _fitting(codec: Codec[T], answer: Json) -> T | None:
    """Return the typed answer; None if the type rejects an answer that fits the question's schema."""
    try:
        return codec.decode_null_as_absent(
            to_json(answer), UNLIMITED
        )  # it was within the limits when it arrived
    except ToolValidationError as error:
        log.warning("an answer does not fit %s, so the tool can ask again: %s", codec.name, error)
        return None
