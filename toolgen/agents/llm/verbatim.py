"""Native tools without a class in pydantic-ai, which are added to requests unchanged.

Each wire format has its own place for them. OpenAI's Responses accept them through a setting of pydantic-ai.
The models for Anthropic and Google have no such setting, so they are added where the model adds its own
tools.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.native_tools import AbstractNativeTool
from pydantic_ai.settings import ModelSettings
from pydantic_core import to_json

from toolgen.contract.json_value import Json

from .wrappers import class_named, unwrapped

_VERSION: Final = re.compile(r"_\d{8}$")
_NAMES: Final[Mapping[str, str]] = {"text_editor": "str_replace_based_edit_tool"}
"""Names of Anthropic's tools that differ from the tool type without its version."""


@dataclass(kw_only=True)
class VerbatimTool(AbstractNativeTool):
    """A native tool without a class in pydantic-ai, as the JSON object that its provider accepts."""

    document: Mapping[str, Json]
    kind: str = "toolgen_verbatim"

    @property
    def unique_id(self) -> str:
        return to_json(self.document).decode()


class VerbatimModel(Model):
    """A model that accepts verbatim tools; its second base is the class of the author's model."""

    def document(self, kind: str, config: Mapping[str, Json]) -> dict[str, Json]:
        """Return a tool as the JSON object in the body of a request.

        Raises:
            ValueError: the provider's SDK does not accept it.
        """
        raise NotImplementedError

    def prepare_request(
        self, model_settings: ModelSettings | None, model_request_parameters: ModelRequestParameters
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        """Return pydantic-ai's settings and parameters with the verbatim tools added unchanged."""
        tools, rest = _split_tools(model_request_parameters)
        settings, parameters = super().prepare_request(model_settings, rest)
        return self._add_verbatim_tools(tools, settings, parameters) if tools else (settings, parameters)

    def _add_verbatim_tools(
        self,
        tools: list[VerbatimTool],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        return settings, replace(parameters, native_tools=[*parameters.native_tools, *tools])


class _Responses(VerbatimModel):
    """OpenAI's Responses API: verbatim tools go to `openai_native_tools`, after the author's own."""

    def document(self, kind: str, config: Mapping[str, Json]) -> dict[str, Json]:
        return {"type": kind, **config}

    def _add_verbatim_tools(
        self,
        tools: list[VerbatimTool],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        merged: Any = dict(settings or {})
        merged["openai_native_tools"] = [
            *merged.get("openai_native_tools", ()),
            *(tool.document for tool in tools),
        ]
        return merged, parameters


class _Anthropic(VerbatimModel):
    """Anthropic's Messages API.

    A tool that the client executes, for example `bash_20250124`, replaces the function tool of the same name;
    that function tool is executed when the model calls it.
    """

    def document(self, kind: str, config: Mapping[str, Json]) -> dict[str, Json]:
        plain = without_version(kind)
        return {"type": kind, "name": _NAMES.get(plain, plain), **config}

    def _add_native_tools(
        self, tools: list[Any], parameters: ModelRequestParameters, *args: Any, **more: Any
    ) -> tuple[list[object], object, object]:
        own, rest = _split_tools(parameters)
        documents = [dict(tool.document) for tool in own]
        names = [document["name"] for document in documents]
        others = [tool for tool in tools if tool.get("name") not in names]
        other: Any = super()  # the author's model
        documents_of_others, servers, betas = other._add_native_tools(others, rest, *args, **more)
        return [*documents_of_others, *documents], servers, betas


class _Google(VerbatimModel):
    """Google's `generateContent`: one object per tool, under its kind."""

    def document(self, kind: str, config: Mapping[str, Json]) -> dict[str, Json]:
        from google.genai import models, types

        document: dict[str, Json] = {kind: dict(config)}
        try:
            tool = types.Tool.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        # The SDK rejects fields that one of its two services lacks only when it writes a request: too late.
        write = getattr(models, "_Tool_to_vertex" if self._is_vertex else "_Tool_to_mldev", None)
        if write is not None:
            write(tool)
        return document

    @property
    def _is_vertex(self) -> bool:
        return bool(getattr(self, "_is_google_cloud", False))

    def _get_tool_config(
        self, parameters: ModelRequestParameters, *args: Any, **more: Any
    ) -> tuple[object, object, object]:
        own, rest = _split_tools(parameters)
        other: Any = super()  # the author's model
        tools, config, images = other._get_tool_config(rest, *args, **more)
        if own:
            tools = [*(tools or []), *(dict(tool.document) for tool in own)]
            tells = self.profile.get("google_supports_server_side_tool_invocations", False)
            if tells and not self._is_vertex:
                config = {**(config or {}), "include_server_side_tool_invocations": True}
        return tools, config, images


_CARRIERS: Final[Mapping[str, tuple[type[VerbatimModel], str]]] = {
    "OpenAIResponsesModel": (_Responses, "prepare_request"),
    "AnthropicModel": (_Anthropic, "_add_native_tools"),
    "GoogleModel": (_Google, "_get_tool_config"),
}
"""Carrier classes by pydantic-ai's class, whose SDK has to be installed, and the method that each needs."""


def without_version(kind: str) -> str:
    """Return the type of a tool without the date at the end of Anthropic's types, for example `_20250124`."""
    return _VERSION.sub("", kind)


def verbatim_class(model: Model) -> type[VerbatimModel] | None:
    """Return the class that makes a model accept verbatim tools; None if its wire has no place for them."""
    carrier = _CARRIERS.get(class_named(model, _CARRIERS))
    return carrier[0] if carrier is not None and hasattr(model, carrier[1]) else None


def verbatim_model_of(model: Model) -> VerbatimModel | None:
    """Return the unwrapped model if it accepts verbatim tools; None otherwise."""
    model = unwrapped(model)
    return model if isinstance(model, VerbatimModel) else None


def _split_tools(
    parameters: ModelRequestParameters,
) -> tuple[list[VerbatimTool], ModelRequestParameters]:
    """Return the verbatim tools, and the parameters without them."""
    tools: Sequence[AbstractNativeTool] = parameters.native_tools
    own = [tool for tool in tools if isinstance(tool, VerbatimTool)]
    rest = [tool for tool in tools if not isinstance(tool, VerbatimTool)]
    return own, replace(parameters, native_tools=rest) if own else parameters
