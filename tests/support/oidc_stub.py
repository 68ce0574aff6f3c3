"""An OpenID Connect provider on loopback, with real keys, whose replies a test can change."""

import base64
import hashlib
import hmac
import json
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey

CLIENT, SECRET = "phones & desks", "s:e/c r+et of the client"
Json = dict[str, Any]
Key = RSAKey | ECKey | OKPKey

MAKE: dict[str, Callable[[str], Key]] = {
    "RS256": lambda kid: RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}),
    "PS256": lambda kid: RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}),
    "ES256": lambda kid: ECKey.generate_key("P-256", {"kid": kid, "use": "sig"}),
    "EdDSA": lambda kid: OKPKey.generate_key("Ed25519", {"kid": kid, "use": "sig"}),
}


class OidcStub:
    """``person`` are the claims of who signs in. ``claims``, ``header``, ``discovery`` and
    ``answers`` (path to a handler that writes its own reply) are what a test changes. ``asked`` are
    the paths that were requested. ``origin`` is where it listens, ``path`` the path of the issuer.
    """

    def __init__(self, origin: str, path: str = "") -> None:
        self.origin, self.issuer = origin, origin + path
        self.person: Json = {"sub": "person-1", "preferred_username": "ada"}
        self.claims: Json = {}
        self.header: Json = {}
        self.discovery: Json = {}
        self.reply: Json = {}
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.asked: list[str] = []
        self.codes: dict[str, Json] = {}
        self.algorithm = "RS256"
        self.rotate("RS256", "first")

    def rotate(self, algorithm: str, kid: str) -> None:
        """Replace the key."""
        self.algorithm, self.key = algorithm, MAKE[algorithm](kid)

    def configuration(self) -> Json:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "authorization_response_iss_parameter_supported": True,
            **self.discovery,
        }

    def signed(self, nonce: str) -> str:
        """The ID token."""
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce,
            **self.person, **self.claims,
        }  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": self.algorithm, "kid": self.key.kid, **self.header}
        header = {name: value for name, value in header.items() if value is not None}
        parts = (json.dumps(header).encode(), json.dumps(claims).encode())
        text = ".".join(base64.urlsafe_b64encode(one).decode().rstrip("=") for one in parts)
        if header["alg"] == "none":
            return f"{text}."
        if header["alg"] == "HS256":
            # The public key as the secret of a symmetric signature.
            mac = hmac.digest(self.key.as_pem(private=False), text.encode(), "sha256")
            return f"{text}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"
        signature = jws.JWSRegistry.algorithms[header["alg"]].sign(text.encode(), self.key)
        return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    def authorize(self, address: str) -> str:
        """What the page of the provider does after the password: the address that it sends the
        browser to."""
        asked = {name: text[0] for name, text in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.issuer}/auth?")
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        reply = {"code": code, "state": asked["state"], "iss": self.issuer, **self.reply}
        sent = {name: text for name, text in reply.items() if text is not None}
        return f"{asked['redirect_uri']}?{urlencode(sent)}"

    def token(self, form: Json, authorization: str) -> tuple[int, Json]:
        asked = self.codes.pop(form.get("code", ""), None)
        login = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (unquote_plus(login[0]), unquote_plus(login[2])) != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or form.get("redirect_uri") != asked["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "never kept", "id_token": self.signed(asked["nonce"])}


@contextmanager
def oidc_stub(
    path: str = "", host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[OidcStub]:
    """A provider that runs meanwhile; its issuer has this path, and this name of the host."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def send(self, status: int, content: Json, **headers: str) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def answer(self, form: Json) -> None:
            asked = urlsplit(self.path).path.removeprefix(path)
            stub.asked.append(asked)
            if asked in stub.answers:
                stub.answers[asked](self)
            elif asked == "/.well-known/openid-configuration":
                self.send(200, stub.configuration())
            elif asked == "/jwks":
                self.send(200, {"keys": [stub.key.as_dict(private=False)]})
            elif asked == "/auth":
                self.send(302, {}, Location=stub.authorize(stub.origin + self.path))
            elif asked == "/token":
                self.send(*stub.token(form, self.headers.get("Authorization", "")))
            else:
                self.send(404, {})

        def do_GET(self) -> None:
            self.answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer({name: text[0] for name, text in parse_qs(body).items()})

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        stub = OidcStub(f"{scheme}://{host}:{server.server_port}", path)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield stub
        finally:
            server.shutdown()
            thread.join()
