"""The documented nginx block over two hosts that restart one after the other."""

import asyncio
import os
import re
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from faults.served import Served, free_port
from races.direct import password_hash
from races.wire import Line
from support.postgres import new_database
from support.scale import note

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
PAGE = Path(__file__).parents[2] / "docs/how-to/run-several-hosts.md"

pytestmark = pytest.mark.skipif(
    not (NGINX and os.environ.get("PHONEPROV_TEST_NGINX")), reason="needs PHONEPROV_TEST_NGINX=1"
)


def configuration(folder: Path, port: int, hosts: list[int], *, max_fails: str) -> str:
    """The nginx block of the page, without TLS, over hosts on this machine."""
    found = re.search(r"```nginx\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    block = found[1]
    for address, host in zip(("10.0.0.5:8000", "10.0.0.6:8000"), hosts, strict=True):
        assert f"server {address} max_fails=0;" in block
        block = block.replace(f"{address} max_fails=0", f"127.0.0.1:{host} {max_fails}")
    assert "listen 443 ssl;" in block
    block = block.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    block = re.sub(r"(?m)^ *ssl_certificate.*\n", "", block)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;"
        f"events {{}} http {{ access_log off; {paths}\n{block}}}"
    )


@pytest.fixture(params=["max_fails=0", ""])
def max_fails(request: pytest.FixtureRequest) -> str:
    password_hash()
    return str(request.param)


async def test_rolling_restart_with_nginx_loses_no_request(tmp_path: Path, max_fails: str) -> None:
    statuses: Counter[int] = Counter()
    over = asyncio.Event()
    async with new_database() as url:
        hosts = [Served(folder, url) for folder in (tmp_path / "one", tmp_path / "other")]
        for host in hosts:
            host.folder.mkdir()
            host.environment["PHONEPROV_TRUSTED_PROXIES"] = "127.0.0.1"
        port = free_port()
        (tmp_path / "nginx.conf").write_text(
            configuration(tmp_path, port, [host.port for host in hosts], max_fails=max_fails)
        )

        async def ask(line: Line, token: str, number: int) -> None:
            if number % 2:
                reply = await line.ask("POST", "/company-directory", {"name": "Ada"}, token=token)
            else:
                reply = await line.ask("GET", "/me", token=token)
            statuses[reply.status] += 1

        async def work(token: str) -> None:
            line, number = await Line.open(port), 0
            while not over.is_set():
                number += 1
                try:
                    await ask(line, token, number)
                except ValueError:  # nginx's own page
                    statuses[502] += 1
                if line.is_closed:
                    await line.close()
                    line = await Line.open(port)
                await asyncio.sleep(0.01)
            await line.close()

        try:
            for host in hosts:
                await asyncio.to_thread(host.start)
            token = await hosts[0].token()
            assert NGINX
            nginx = await asyncio.create_subprocess_exec(
                NGINX, "-p", tmp_path, "-c", tmp_path / "nginx.conf"
            )
            await asyncio.sleep(1)
            try:
                async with asyncio.TaskGroup() as clients:
                    for _ in range(8):
                        clients.create_task(work(token))
                    await asyncio.sleep(1)
                    for host in hosts:
                        host.tell(signal.SIGTERM)
                        assert (await host.ended(60))[0] == 0
                        await asyncio.to_thread(host.start)
                    await asyncio.sleep(1)
                    over.set()
            finally:
                nginx.terminate()
                await nginx.wait()
        finally:
            for host in hosts:
                host.close()
    note(f"rolling restart behind nginx, {max_fails or 'default'}: {dict(statuses)}")
    if max_fails:
        assert {*statuses} == {200, 201}
