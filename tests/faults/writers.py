"""Writers of each kind."""

import random
from typing import Any

from faults.ledger import Content, Writer
from races.direct import PASSWORD
from races.wire import Line, Reply
from support.records import a_mac

Request = tuple[str, str, str, Any, Content]


class Listed(Writer):
    """Records of a list, each with its own name in ``naming`` and a uuid from the service."""

    naming = "name"

    def __init__(self, number: int, chance: random.Random) -> None:
        super().__init__(number, chance)
        self._uuids: dict[str, str] = {}

    def path_of(self, key: str) -> str:
        return f"{self.path}/{self._uuids[key]}"

    def answered(self, key: str, reply: Reply) -> None:
        if reply.data is not None:
            self._uuids[key] = reply.data["uuid"]

    def body(self, key: str, content: dict[str, Any]) -> dict[str, Any]:
        return {self.naming: key, **content}

    async def found(self, line: Line, token: str) -> dict[str, dict[str, Any]]:
        rows = (await line.ask("GET", self.path, token=token)).data
        own = {row[self.naming]: row for row in rows if row[self.naming].startswith(self.prefix)}
        self._uuids = {key: row["uuid"] for key, row in own.items()}
        return {key: {field: row[field] for field in self.fields} for key, row in own.items()}


class Contacts(Listed):
    """Contacts of the company, with changes of several fields at once."""

    path = "/company-directory"
    fields = ("work", "mobile", "building")


class Services(Listed):
    """Service definitions."""

    path = "/vendor-services"
    fields = ("type",)


class Profiles(Listed):
    """Profiles, whose text fills several pages of the database."""

    path = "/phone-profiles"
    fields = ("description", "cnf_xml", "compatible_models")

    def __init__(self, number: int, chance: random.Random, owner: str) -> None:
        super().__init__(number, chance)
        self._owner = owner

    def content(self) -> dict[str, Any]:
        mark = str(self.chance.random())
        text = f"<device><a>{mark * self.chance.randrange(1, 2000)}</a><b>{mark}</b></device>"
        return {"description": mark, "cnf_xml": text, "compatible_models": [mark]}

    def body(self, key: str, content: dict[str, Any]) -> dict[str, Any]:
        return {"user_uuid": self._owner, **super().body(key, content)}


class Users(Listed):
    """Accounts: two tables, one of them for the password."""

    path = "/users"
    naming = "username"
    fields = ("first_name", "last_name", "location")

    def body(self, key: str, content: dict[str, Any]) -> dict[str, Any]:
        secret = {} if key in self.book.known() else {"password": f"password of {key}"}
        return {**super().body(key, content), "email": f"{key}@example.com", **secret}

    async def check(self, line: Line, token: str) -> list[str]:
        wrong = await super().check(line, token)
        # To check one takes long; all rounds together check many.
        for key in self.chance.sample(sorted(self.book.known()), min(1, len(self.book.known()))):
            login = {"username": key, "password": f"password of {key}"}
            reply = await line.ask("POST", "/auth/login", login)
            wrong += [] if reply.status == 200 else [f"{key} cannot log in: {reply}"]
        return wrong


class Phones(Writer):
    """Phones, each with a flag and key expansion modules: three tables, of which the deletion
    of a phone changes all."""

    path = "/phones"
    fields = ("name", "model", "location")

    def path_of(self, key: str) -> str:
        return f"/phones/{self._mac(key)}"

    def _mac(self, key: str) -> str:
        number, _, serial = key.removeprefix("w").partition("-")
        return a_mac((int(number) << 16) + int(serial))

    def content(self) -> dict[str, Any]:
        return {**super().content(), "vendor": None, "modules": 0}

    def body(self, key: str, content: dict[str, Any]) -> dict[str, Any]:
        fields = {field: content[field] for field in self.fields}
        return {"mac": self._mac(key), "description": key, **fields}

    def next(self) -> Request:
        known = self.book.known()
        if not known or self.chance.random() < 0.6:
            method, path, key, body, content = super().next()
            if method == "PUT" and content is not None:
                content |= {part: known[key][part] for part in ("vendor", "modules")}
            return method, path, key, body, content
        key = self.chance.choice(sorted(known))
        before = known[key]
        if self.chance.random() < 0.5:
            flag = {"vendor": not before["vendor"]}
            return "PUT", f"/vendor-phones/{self._mac(key)}", key, flag, before | flag
        module = {"connected_phone": self._mac(key)}
        after = before | {"modules": before["modules"] + 1}
        return "POST", "/vendor-kem", key, module, after

    async def found(self, line: Line, token: str) -> dict[str, dict[str, Any]]:
        phones = (await line.ask("GET", self.path, token=token)).data
        flags = (await line.ask("GET", "/vendor-phones", token=token)).data
        modules = (await line.ask("GET", "/vendor-kem", token=token)).data
        vendor = {row["mac"]: row["vendor"] for row in flags}
        connected = [row["connected_phone"] for row in modules]
        return {
            row["description"]: {
                **{field: row[field] for field in self.fields},
                "vendor": vendor.get(row["mac"]),
                "modules": connected.count(row["mac"]),
            }
            for row in phones
            if (row["description"] or "").startswith(self.prefix)
        }


class Sessions(Writer):
    """Sessions: logins, exchanged refresh tokens, logouts. A record holds its tokens."""

    def __init__(self, number: int, chance: random.Random, username: str) -> None:
        super().__init__(number, chance)
        self._login = {"username": username, "password": PASSWORD}
        self._ended: list[str] = []

    def next(self) -> Request:
        known = self.book.known()
        kind = self.chance.choices(["login", "refresh", "logout"], [2, 6, 1])[0]
        if kind == "login" or not known:
            self._serial += 1
            return "POST", "/auth/login", f"{self.prefix}{self._serial}", self._login, {}
        key = self.chance.choice(sorted(known))
        presented = {"refresh_token": known[key]["refreshToken"]}
        if kind == "refresh":
            return "POST", "/auth/refresh", key, presented, {}
        self.token = known[key]["accessToken"]
        return "POST", "/auth/logout", key, presented, None

    def answered(self, key: str, reply: Reply) -> None:
        if reply.data is None:
            self._ended.append(self.token)
        else:
            self.book.pages[key] = [reply.data]

    async def check(self, line: Line, token: str) -> list[str]:
        wrong = []
        for key, pair in self.book.known().items():
            me = await line.ask("GET", "/me", token=pair["accessToken"])
            presented = {"refresh_token": pair["refreshToken"]}
            refreshed = await line.ask("POST", "/auth/refresh", presented)
            if (me.status, refreshed.status) != (200, 200):
                wrong.append(f"session {key} is gone: {me} {refreshed}")
            again = await line.ask("POST", "/auth/refresh", presented)
            if again.status != 401:
                wrong.append(f"session {key} took its token twice: {again}")
        after = [await line.ask("GET", "/me", token=access) for access in self._ended]
        wrong += ["a session goes on after its logout" for me in after if me.status != 401]
        # A lost response loses the token: further checks are not possible.
        self.book.pages, self._ended = {}, []
        return wrong
