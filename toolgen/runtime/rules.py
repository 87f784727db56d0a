"""Rules of a host: which calls are allowed, denied or asked about, by tool, tag, annotation and argument."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Required, TypeAlias, TypedDict, get_args

from toolgen.calls.argument_patterns import ArgumentPattern, PatternError, unknown_argument
from toolgen.calls.errors import RegistrationError
from toolgen.calls.steps.hooks import Deny
from toolgen.calls.steps.policy import Allow, Ask, Decision
from toolgen.contract.names import Hint
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.calls.call import ToolCall
    from toolgen.calls.specs import ToolSpec
    from toolgen.contract.json_value import Json

__all__ = ["ArgumentPattern", "PatternError", "Rule", "RulePolicy"]

_Word: TypeAlias = Literal["allow", "ask", "deny"]
_WORDS: Final[Sequence[_Word]] = get_args(_Word)
"""Decisions from the weakest to the strongest."""


class Rule(TypedDict, total=False):
    """One rule, as in JSON or TOML; it covers the calls that meet all its conditions."""

    decision: Required[_Word]
    tool: str
    """Id of the tool."""
    tag: str
    """Tag of the tool or of its toolset."""
    annotations: Mapping[Hint, bool]
    """Behavior hints of the tool; MCP's defaults if the author set none."""
    arguments: Mapping[str, Mapping[str, Json]]
    """The JSON of an `ArgumentPattern`."""
    reason: str
    """Question for the person who is asked, or message for the model whose call is denied."""


@frozen_record
class _Checked:
    decision: _Word
    tool: str = ""
    tag: str = ""
    annotations: Mapping[Hint, bool]
    pattern: ArgumentPattern | None
    reason: str = ""

    def covers(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> bool:
        """Return whether the rule covers a call; a doubtful argument is covered unless the rule allows."""
        return (
            self.tool in ("", spec.id)
            and (not self.tag or self.tag in spec.tags)
            and (not self.annotations or self.annotations.items() <= spec.hints.items())
            and (self.pattern is None or self.pattern.matches(arguments, in_doubt=self.decision != "allow"))
        )


class RulePolicy:
    """A policy of rules: a rule that denies wins over one that asks, and that one over a rule that allows.

    The order of the rules has no effect.
    """

    def __init__(self, rules: Sequence[Rule], *, otherwise: _Word = "allow") -> None:
        """Construct the policy; `otherwise` decides about calls that no rule covers.

        Raises:
            RegistrationError: rules are wrong; the message lists all problems of all rules.
        """
        problems: list[str] = []
        if otherwise not in _WORDS:
            problems.append(f"otherwise: {_word_problem(otherwise)}")
        self._rules = [_checked(rule, f"rule {place}", problems) for place, rule in enumerate(rules, 1)]
        if problems:
            raise RegistrationError("; ".join(problems))
        self._otherwise: _Word = otherwise
        self.named_tools = frozenset(rule.tool for rule in self._rules if rule.tool)
        """Ids of tools; the runtime refuses to serve if one of them does not exist."""

    async def decide(self, call: ToolCall, spec: ToolSpec, preview: str) -> Decision:
        """Return the decision of the strongest rule that covers the call.

        Raises:
            RegistrationError: a rule for the tool names an argument that the tool does not have.
        """
        for rule in self._rules:
            if rule.tool != spec.id or rule.pattern is None:
                continue
            if why := unknown_argument(rule.pattern, spec.payload.schema, spec.id):
                raise RegistrationError(f"a rule cannot match any call: {why}")
        arguments = json.loads(call.payload_json)
        decision: _Word = self._otherwise
        deciding: list[_Checked] = []
        for word in _WORDS:
            if covering := [
                rule for rule in self._rules if rule.decision == word and rule.covers(spec, arguments)
            ]:
                decision, deciding = word, covering
        reason = " ".join(sorted({rule.reason for rule in deciding if rule.reason}))
        match decision:
            case "allow":
                return Allow()
            case "ask":
                return Ask(question=reason)
            case "deny":
                return Deny(message=reason or _denial(spec, deciding))


def _denial(spec: ToolSpec, rules: Sequence[_Checked]) -> str:
    if not rules:
        return f"{spec.name} is not allowed with these arguments by the host's rules"
    patterns = [rule.pattern for rule in rules if rule.pattern is not None]
    if len(patterns) < len(rules):
        return f"{spec.name} is denied by a rule of the host"
    return f"{spec.name} is denied by a rule of the host if {min(each.describe() for each in patterns)}"


def _checked(rule: object, at: str, problems: list[str]) -> _Checked:
    """Return a validated rule, and add its problems to the list."""
    pattern = None
    rule_problems: list[str] = []
    if not isinstance(rule, Mapping):
        problems.append(f'{at}: write an object such as {{"decision": "ask", "tag": "billing"}}')
        return _Checked(decision="deny", annotations={}, pattern=None)
    if "arguments" in rule:
        try:
            pattern = ArgumentPattern.from_json(rule["arguments"], "arguments")
        except PatternError as error:
            rule_problems += error.problems
    rule_problems += _problems(rule)
    problems += [f"{at}: {problem}" for problem in rule_problems]
    if rule_problems:
        return _Checked(decision="deny", annotations={}, pattern=None)
    plain = {key: rule[key] for key in ("decision", "tool", "tag", "reason") if key in rule}
    return _Checked(**plain, annotations=dict(rule.get("annotations", {})), pattern=pattern)


def _problems(rule: Mapping[str, object]) -> Iterator[str]:
    known = list(Rule.__annotations__)
    for key in rule:
        if key not in known:
            yield f"{key!r} is not a key of a rule; write one of {', '.join(known)}"
    if rule.get("decision") not in _WORDS:
        yield f"decision: {_word_problem(rule.get('decision'))}"
    for key in ("tool", "tag", "reason"):
        if key in rule and not (isinstance(rule[key], str) and rule[key]):
            yield f"{key}: write a non-empty string"
    hints = rule.get("annotations", {})
    if not isinstance(hints, Mapping):
        yield 'annotations: write an object such as {"destructive": true}'
    else:
        for hint, value in hints.items():
            if hint not in get_args(Hint) or not isinstance(value, bool):
                yield f"annotations: {hint!r}: write true or false for one of {', '.join(get_args(Hint))}"
    if not any(rule.get(key) for key in ("tool", "tag", "annotations", "arguments")):
        yield "name a tool, a tag, annotations or arguments; `otherwise` decides about the remaining calls"


def _word_problem(word: object) -> str:
    return f"{word!r} is not a decision; write allow, ask or deny"
