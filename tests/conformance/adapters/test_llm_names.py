"""Models by name: at the URL of a server that speaks the wire formats, and what a wrong name gets."""

from __future__ import annotations

import pytest

from tests.conformance.adapters.plan_inputs import given
from tests.conformance.adapters.provider import Provider
from tests.conformance.adapters.wire import Said
from toolgen.agents import FinalResponse, LLMPlanner
from toolgen.agents.llm.models import find_model
from toolgen.contract.errors import ToolgenError

_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("llama3.2:3b", "/v1"),
        ("openai-chat:llama3.2", "/v1"),
        ("openai:gpt-5", "/v1"),
        ("anthropic:claude-haiku-4-5", ""),
        ("google:gemini-2.5-flash", ""),
    ],
)
async def test_a_model_at_a_url_needs_no_key(name: str, path: str, provider: Provider) -> None:
    provider.answers(Said(text="Here I am."))
    plan = await LLMPlanner(f"{name}@{provider.url}{path}").plan_start(given())
    assert isinstance(plan, FinalResponse)
    assert plan.text == "Here I am."
    assert provider.sent[0]["model"] == name.removeprefix("openai-chat:").removeprefix(
        "openai:"
    ).removeprefix("anthropic:").removeprefix("google:")
    assert provider.keys[0].removeprefix("Bearer ") in ("none", "api-key-not-set")


async def test_the_key_of_the_environment_goes_to_this_machine(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-of-a-proxy")
    provider.answers(Said(text="Ok."))
    await LLMPlanner(f"gpt-4o@{provider.url}/v1").plan_start(given())
    assert provider.keys == ["Bearer sk-test-of-a-proxy"]


def test_and_to_no_other_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-secret")
    made = find_model("anthropic:claude@http://models.test")
    assert getattr(made, "client").api_key == "none"  # noqa: B009  # of a class that needs its SDK
    made = find_model("anthropic:claude@https://models.test")
    assert getattr(made, "client").api_key == "sk-test-secret"  # noqa: B009


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("gpt-5", "'gpt-5' is not a model", 'write "openai:gpt-5", '),
        ("opnai:gpt-5", "no model provider is named 'opnai'", "did you mean openai:gpt-5?"),
        ("nobody:model", "no model provider is named 'nobody'", "write one of anthropic, "),
        ("openai:gpt-5", "openai:gpt-5 has no API key", "set OPENAI_API_KEY in the environment"),
        ("anthropic:claude", "anthropic:claude has no API key", "set ANTHROPIC_API_KEY in the environment"),
        (
            "google:gemini-3-pro",
            "google:gemini-3-pro has no API key",
            "set GOOGLE_API_KEY in the environment",
        ),
        (
            "groq:llama",
            "the package for models of groq is not installed",
            "pip install 'pydantic-ai-slim[groq]'",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_fix(name: str, message: str, hint: str) -> None:
    with pytest.raises(ToolgenError) as caught:
        LLMPlanner(name)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)
    assert "\n" not in caught.value.hint
