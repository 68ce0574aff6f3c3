"""One control connection of the scripted FTP server."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from support.ftp_faults import DATA_KINDS, GREETING, SERVER_WORDS, Fault, FtpState, Kind, reset

Move = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_BEFORE_LOGIN = {"USER", "PASS", "AUTH", "PBSZ", "PROT", "QUIT"}


class Control:
    """Executes commands in order until the connection ends."""

    def __init__(
        self, server: FtpState, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.folder = "/"
        self.user = ""
        self.logged_in = self.protected = False
        self.mute = False
        self.rename_from = ""
        self.passive: asyncio.Server | None = None
        self.data: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        self.data_writers: list[asyncio.StreamWriter] = []
        self.data_fault: Fault | None = None
        server.open.add(writer)

    async def serve(self) -> None:
        try:
            if not await self.broken(GREETING):
                self.writer.write(self.server.greeting)
            while line := await self.reader.readline():
                verb, _, rest = line.decode().rstrip("\r\n").partition(" ")
                verb = verb.upper()
                self.server.seen.append(verb)
                self.server.on_verb(verb, rest)
                await asyncio.sleep(self.server.delay)
                if not await self.broken(verb):
                    await self.obey(verb, rest)
                if self.mute:
                    break
        finally:
            if self.passive is not None:
                self.passive.close()
            for writer in [self.writer, *self.data_writers]:
                self.server.forget(writer)

    async def broken(self, verb: str) -> bool:
        fault = self.server.fault(verb)
        self.data_fault = fault if fault and fault.kind in DATA_KINDS else None
        if fault is None or self.data_fault is not None:
            return False
        match fault.kind:
            case "hang":
                await self.reader.read()
            case "refuse":
                self.say(f"{fault.reply} {SERVER_WORDS}")
            case "nonsense":
                self.say("2")
            case "flood":
                while not self.writer.is_closing():
                    self.say("220-" + "x" * 1000)
                    await self.writer.drain()
            case "reset":
                reset(self.writer)
                raise ConnectionResetError
            case "deaf":
                self.mute = True
                return False
            case "cut":
                self.writer.write(b"226")
                await self.writer.drain()
                raise ConnectionResetError
            case _:
                raise ConnectionResetError
        return True

    def say(self, reply: str) -> None:
        if not self.mute:
            self.writer.write(reply.encode() + b"\r\n")

    def path(self, name: str) -> str:
        return name if name.startswith("/") else self.folder.rstrip("/") + "/" + name

    async def obey(self, verb: str, rest: str) -> None:
        if verb in self.server.lacks:
            return self.say("502 not implemented")
        method = getattr(self, f"do_{verb.lower()}", None)
        if method is None or (not self.logged_in and verb not in _BEFORE_LOGIN):
            return self.say("530 no" if method else "500 unknown")
        await method(rest)
        return None

    async def do_user(self, name: str) -> None:
        self.user = name
        self.say("331 password")

    async def do_pass(self, password: str) -> None:
        server = self.server
        self.logged_in = (self.user, password) == (server.user, server.password)
        self.say("230 in" if self.logged_in else f"530 {SERVER_WORDS}")

    async def do_auth(self, _: str) -> None:
        if self.server.tls is None:
            return self.say("502 no TLS")
        self.writer.write(b"234 go on\r\n" + self.server.injected)
        await self.writer.start_tls(self.server.tls)
        return None

    async def do_pbsz(self, _: str) -> None:
        self.say("200 0")

    async def do_prot(self, level: str) -> None:
        self.protected = level == "P"
        self.say("200 done")

    async def do_type(self, _: str) -> None:
        self.say("200 binary")

    async def do_cwd(self, folder: str) -> None:
        path = self.path(folder)
        known = path in self.server.folders
        self.folder = path if known else self.folder
        self.say("250 there" if known else "550 no such folder")

    async def do_quit(self, _: str) -> None:
        self.say("221 bye")
        await self.writer.drain()
        raise ConnectionResetError

    async def listen(self) -> int:
        if self.passive is not None:
            self.passive.close()
        self.data = asyncio.Queue()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self.protected:
                writer.transport.pause_reading()  # type: ignore[attr-defined]
            self.server.open.add(writer)
            self.data_writers.append(writer)
            self.data.put_nowait((reader, writer))

        host = self.writer.get_extra_info("sockname")[0]
        self.passive = await asyncio.start_server(accept, host, 0)
        return int(self.passive.sockets[0].getsockname()[1])

    async def do_epsv(self, _: str) -> None:
        self.say(self.server.passive_reply or f"229 here (|||{await self.listen()}|)")

    async def do_pasv(self, _: str) -> None:
        port = self.server.pasv_port or await self.listen()
        reply = f"227 here ({self.server.pasv},{port >> 8},{port & 255})"
        self.say(self.server.passive_reply or reply)

    async def do_stor(self, name: str) -> None:
        path, files = self.path(name), self.server.files
        files[path] = b""

        async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while block := await reader.read(1 if self.at("trickle") else 8192):
                files[path] += block
                if self.at("trickle"):
                    await asyncio.sleep(self.server.pause)
                if self.at("half", "reset_data", "reset_both"):
                    return

        await self.transfer(receive)

    async def do_retr(self, name: str) -> None:
        content = self.server.files.get(self.path(name))
        if content is None:
            return self.say("550 no such file")
        return await self.send(content)

    async def do_mlsd(self, _: str) -> None:
        lines = (f"type=file;size={size}; {name}\r\n" for name, size in self.sizes().items())
        await self.send("".join(lines).encode())

    async def do_mlst(self, name: str) -> None:
        if self.path(name) not in self.server.files:
            return self.say("550 no such file")
        return self.say(f"250-here\r\n type=file;UNIX.mode=0644; {name}\r\n250 end")

    async def do_nlst(self, _: str) -> None:
        await self.send("".join(f"./{name}\r\n" for name in self.sizes()).encode())

    async def do_list(self, _: str) -> None:
        lines = (
            f"-rw-r--r-- 1 ftp ftp {size} Jan 01 00:00 {name}\r\n"
            for name, size in self.sizes().items()
        )
        await self.send("".join(lines).encode())

    def sizes(self) -> dict[str, int]:
        start = self.folder.rstrip("/") + "/"
        return {
            path.removeprefix(start): len(content)
            for path, content in self.server.files.items()
            if path.startswith(start)
        }

    async def send(self, content: bytes) -> None:
        async def give(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            out = content
            if self.at("other_bytes"):
                out = out[:-1] + bytes([out[-1] ^ 1])
            while self.at("more_bytes"):
                writer.write(out)
                await writer.drain()
                await asyncio.sleep(0)  # drain() may return at once, also after a shutdown of TLS.
            if self.at("half", "reset_data", "reset_both"):
                out = out[: len(out) // 2]
            if self.at("trickle"):
                for byte in out:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(self.server.pause)
            writer.write(out)
            await writer.drain()

        await self.transfer(give)

    def at(self, *kinds: Kind) -> bool:
        return self.data_fault is not None and self.data_fault.kind in kinds

    async def transfer(self, move: Move) -> None:
        self.say("150 go")
        self.writer.write(self.server.preliminary.get(self.server.seen[-1], b""))
        reader, writer = await self.data.get()
        try:
            if self.at("stall"):
                await self.reader.read()
            if self.protected:
                assert self.server.tls is not None
                await writer.start_tls(self.server.tls)
                self.server.resumed.append(writer.get_extra_info("ssl_object").session_reused)
            await move(reader, writer)
            if self.at("reset_data", "reset_both"):
                reset(writer)
            if self.at("reset_both"):
                reset(self.writer)
                raise ConnectionResetError
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        finally:
            self.server.forget(writer)
        if not self.at("no_226"):
            self.say("426 broken off" if self.at("reset_data") else "226 done")

    async def do_rnfr(self, name: str) -> None:
        self.rename_from = self.path(name)
        known = self.rename_from in self.server.files
        self.say("350 and then" if known else "550 no such file")

    async def do_rnto(self, name: str) -> None:
        files, path = self.server.files, self.path(name)
        if path in files and not self.server.renames_over:
            return self.say(f"553 {SERVER_WORDS}")
        files[path] = files.pop(self.rename_from)
        return self.say("250 renamed")

    async def do_dele(self, name: str) -> None:
        known = self.server.files.pop(self.path(name), None) is not None
        self.say("250 gone" if known else "550 no such file")
