"""OAuth 2 tokens (RFC 6749): for the client itself, for a person's code with PKCE, and renewals."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from toolgen.calls.errors import ToolError
from toolgen.capabilities import EnvironmentCredentials
from toolgen.capabilities.renewals import Authorization, AuthorizationPage, TokenSource
from toolgen.contract.credentials import Credential, note
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.logs import redact_http_logs
from toolgen.contract.record import frozen_record
from toolgen.contract.transport import OAuthFlow, Requirement

from .exchanges import OAuthRefusedError, ask, shown
from .metadata import Discovery, Endpoints

with extra("http"):
    from authlib.oauth2.auth import ClientAuth
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

_LONGEST_LIFE_S: Final = 10 * 365 * 86_400
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_NO_FLOW: Final = OAuthFlow(kind="client_credentials")


@frozen_record
class OAuthClient:
    """Registration of a host at an authorization server."""

    client_id: str
    client_secret: str = field(default="", repr=False)
    """Client secret; "" for a public client."""
    method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    """Place of the secret in a request."""


class OAuth(TokenSource):
    """Requests tokens from the authorization servers that designs name."""

    def __init__(
        self,
        clients: Mapping[str, OAuthClient] | None = None,
        *,
        redirect_uri: str = "",
        environment: EnvironmentCredentials | None = None,
        timeout_s: float = 20.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the token source.

        Args:
            clients: Clients by service; missing ones are read from the environment.
            redirect_uri: URL at which the host has mounted its `OAuthCallback`; without it no person is
                asked.
            environment: Environment with clients; by default that of this process.
            timeout_s: Seconds for one request.
            clock: Returns seconds since 1970.
        """
        self._clients = dict(clients or {})
        self._redirect_uri = redirect_uri
        self._environment = EnvironmentCredentials() if environment is None else environment
        self._timeout_s = timeout_s
        self._clock = clock
        self._discovery = Discovery(timeout_s)
        redact_http_logs()

    async def issue(self, service: str, requirement: Requirement) -> Credential | None:
        flow, client = requirement.scheme.flow, self._client(service, requirement)
        if flow is None or flow.kind != "client_credentials" or client is None:
            return None
        endpoints = await self._discovery.endpoints(service, flow)
        form = {"scope": " ".join(requirement.scopes)} if requirement.scopes else {}
        return await self._token(service, client, endpoints, requirement.scopes, "client_credentials", form)

    async def renew(
        self, service: str, requirement: Requirement, credential: Credential
    ) -> Credential | None:
        flow, client = requirement.scheme.flow, self._client(service, requirement)
        if flow is None or client is None:
            return None
        endpoints = await self._discovery.endpoints(service, flow)
        form, scopes = {"refresh_token": credential.refresh_token}, credential.scopes
        try:
            token = await self._token(service, client, endpoints, scopes, "refresh_token", form)
        except OAuthRefusedError as refused:
            if refused.code == "invalid_grant":
                return None
            raise
        return token if token.refresh_token else replace(token, refresh_token=credential.refresh_token)

    async def begin(self, service: str, requirement: Requirement) -> AuthorizationPage | None:
        flow, client = requirement.scheme.flow, self._client(service, requirement)
        if flow is None or flow.kind != "authorization_code" or client is None or not self._redirect_uri:
            return None
        authorize = (await self._discovery.endpoints(service, flow)).authorize
        if urlsplit(authorize).scheme not in ("http", "https"):
            raise ToolError(
                f"the authorization endpoint of {service} is unknown; write authorize=… into its flow"
            )
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        address = prepare_grant_uri(
            authorize,
            client.client_id,
            "code",
            redirect_uri=self._redirect_uri,
            scope=" ".join(requirement.scopes) or None,
            state=state,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
        return AuthorizationPage(address=str(address), name=name_of(state), verifier=verifier)

    async def exchange(self, authorization: Authorization, code: str, issuer: str) -> Credential:
        service, requirement = authorization.service, authorization.requirement
        flow, client = requirement.scheme.flow or _NO_FLOW, self._client(service, requirement)
        if client is None:
            raise ToolError(f"no OAuth 2 client is configured for {service}; add one to OAuth(clients)")
        endpoints = await self._discovery.endpoints(service, flow)
        if not endpoints.may_be_of(issuer):
            named = f"another issuer: {shown(issuer)}" if issuer else "an unknown issuer"
            raise ToolError(f"the code for {service} is from {named}")
        note(Credential(secret=code), Credential(secret=authorization.verifier))
        form = {"code": code, "redirect_uri": self._redirect_uri, "code_verifier": authorization.verifier}
        return await self._token(service, client, endpoints, requirement.scopes, "authorization_code", form)

    def _client(self, service: str, requirement: Requirement) -> OAuthClient | None:
        if (client := self._clients.get(service)) is not None:
            return client
        pair = self._environment.client(service, requirement.scheme)
        return None if pair is None else OAuthClient(client_id=pair[0], client_secret=pair[1])

    async def _token(
        self,
        service: str,
        client: OAuthClient,
        endpoints: Endpoints,
        scopes: tuple[str, ...],
        grant: str,
        form: Mapping[str, str],
    ) -> Credential:
        """Request a token from a token endpoint.

        Raises:
            OAuthRefusedError: The server refuses the request.
            ToolError: The endpoint is unknown, or its answer is not valid.
        """
        endpoint = endpoints.refresh if grant == "refresh_token" else endpoints.token
        if urlsplit(endpoint).scheme not in ("http", "https"):
            raise ToolError(f"the token endpoint of {service} is unknown; write token=… into its flow")
        note(Credential(secret=client.client_secret, username=client.client_id))
        auth = ClientAuth(
            client.client_id, client.client_secret, client.method if client.client_secret else "none"
        )
        body = prepare_token_request(grant, "", **form)
        url, headers, body = auth.prepare("POST", endpoint, dict(_FORM), body)
        status, document = await ask(
            service,
            "POST",
            url,
            headers=headers,
            body=body,
            is_guarded=endpoints.is_guarded,
            seconds=self._timeout_s,
        )
        if status != 200 or "error" in document:
            code, description = document.get("error", status), document.get("error_description", "")
            raise OAuthRefusedError(service, str(code), str(description))
        return self._credential(service, document, scopes)

    def _credential(self, service: str, document: dict[str, Json], scopes: tuple[str, ...]) -> Credential:
        """Return the credential in a token response (RFC 6749, section 5.1).

        Raises:
            ToolError: The response has no bearer token.
        """
        match document:
            case {"access_token": str(token), "token_type": str(kind)} if token and kind.lower() == "bearer":
                pass
            case _:
                raise ToolError(f"the authorization server of {service} returned no bearer token")
        life, granted, again = (document.get(name) for name in ("expires_in", "scope", "refresh_token"))
        is_known = isinstance(life, int | float | str) and str(life).isdecimal() and len(str(life)) < 1_000
        credential = Credential(
            secret=token,
            refresh_token=again if isinstance(again, str) else "",
            expires_at=self._clock() + min(int(str(life)), _LONGEST_LIFE_S) if is_known else None,
            scopes=tuple(granted.split()) if isinstance(granted, str) else scopes,
        )
        note(credential)
        return credential


def name_of(state: str) -> str:
    """Return the storage key for the authorization of a state; it does not reveal the state."""
    return f"authorization:{hashlib.sha256(state.encode(errors='surrogatepass')).hexdigest()}"
