"""Guard: who may speak with the server. Loopback hosts, our own origin, the token of the address, a content policy."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

TOKEN_BYTES = 24


def new_token() -> str:
    """Returns a token that cannot be guessed."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True)
class Guard:
    """The token of the address and the port: what a request must show to be answered."""

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    @property
    def address(self) -> str:
        """The address a person opens, with the token."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    def refusal(self, headers: Mapping[str, str], token: str | None, needs_token: bool = True) -> str | None:
        """Returns why a request is refused, or None.

        The host must be ours, so that no other name can be pointed at this machine. A page of another origin is refused
        also with the right token.
        """
        if headers.get("host") not in self.hosts:
            return f"this server answers to {self.hosts[0]}"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "requests of other pages are not answered"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "requests of other pages are not answered"
        if needs_token and not secrets.compare_digest((token or "").encode(), self.token.encode()):
            return "open the whole address that the terminal shows: it holds a token"
        return None


def page_headers(nonce: str) -> dict[str, str]:
    """Returns the headers of the page: only our own scripts, styles and connections, in no frame of others."""
    policy = (
        "default-src 'none'; "
        f"script-src 'self' 'nonce-{nonce}'; "
        "style-src 'self'; "
        "img-src 'self' blob: data:; "
        "connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy, **FILE_HEADERS}


FILE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
