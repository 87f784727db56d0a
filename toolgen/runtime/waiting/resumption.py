"""The answers of a resumed call: read by the authorization, which asks once, and by the executor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import to_json

from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.record import record

from ..call.failures import log
from ..errors import ToolValidationError

if TYPE_CHECKING:
    from ..codec import Codec
    from ..specs import ToolSpec
    from .frozen import FrozenCall

T = TypeVar("T")


@record
class Resumption:
    """The answers with which a suspended call is resumed."""

    answers: tuple[Json, ...]
    """Documents by `answer_document`: everything that was answered to this call, the newest last."""
    key: str = ""
    """The idempotency key that the call had before it waited."""

    @property
    def answer(self) -> Json:
        """The newest answer, as it was given."""
        newest: Json = _facts(self.answers[-1])["answer"]
        return newest

    @property
    def kept(self) -> Json:
        """What the executor kept with its newest question; None for nothing."""
        kept: Json = _facts(self.answers[-1]).get("kept")
        return kept

    @property
    def is_approved(self) -> bool:
        """Whether a person has given the approval that the design or the policy requires."""
        return any(one["kind"] == "confirmation" and not one.get("by_tool") for one in self._all())

    def approved(self, question: str) -> bool:
        """Return whether a person has approved this question of the tool itself."""
        return any(one.get("by_tool") and one["question"] == question for one in self._all())

    def answered(self, type_: type[T], question: str | None, spec: ToolSpec[Any, Any] | None) -> T | None:
        """Return the newest answer to a question of this type, with defaults; None where there is none."""
        for one in reversed(self._all()):
            if question is not None and one.get("question") != question:
                continue
            codec: Codec[T] | None
            if one["kind"] == "confirmation":
                confirm = spec.confirm if spec is not None else None
                codec = confirm.payload if confirm is not None else None
                if codec is not None and codec.type is type_:
                    return _decoded(codec, one["answer"].get("payload") or {})
            elif one["kind"] == "input":
                from .questions import question_codec, question_schema  # only a typed question needs them

                if one.get("schema") == question_schema(type_):
                    return _decoded(question_codec(type_), one["answer"])
        return None

    def _all(self) -> list[dict[str, Any]]:
        return [_facts(one) for one in self.answers]


def answer_document(frozen: FrozenCall, answer: Json) -> Json:
    """Return the document of an accepted answer for the journal."""
    facts: dict[str, Json] = {"kind": frozen.kind, "answer": answer, "question": frozen.question}
    if frozen.kind == "input":
        facts["schema"] = dict(frozen.answer_schema)
    if frozen.is_asked_by_tool:
        facts["by_tool"] = True
    if frozen.keep is not None:
        facts["kept"] = frozen.keep
    return facts


def _facts(document: Json) -> dict[str, Any]:
    return document if isinstance(document, dict) else {"kind": "", "answer": document}


def _decoded(codec: Codec[T], answer: Json) -> T | None:
    """Return the typed answer; None where its type rejects what the schema of the question accepts."""
    try:
        return codec.decode(to_json(answer), UNLIMITED)  # it was within the limits when it was given
    except ToolValidationError as error:
        log.warning("an answer does not fit %s, the tool may ask again: %s", codec.name, error)
        return None
