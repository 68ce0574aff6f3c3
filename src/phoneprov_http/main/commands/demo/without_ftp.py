"""The second part of the demo: a switch without an FTP server."""

from collections.abc import Mapping

import click
import httpx

from phoneprov_adapters.simulator.fetching import fetch_by_tftp
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_http.main.commands.demo.service import DemoFailed, provisioning, run
from phoneprov_http.main.commands.demo.switch import CONFIGURATION, PROFILE
from phoneprov_http.main.commands.options import free_port


async def switch_without_ftp(
    client: httpx.AsyncClient, environment: Mapping[str, str], phone: SimulatedPhone
) -> None:
    """Switch the phone with ``PHONEPROV_UPLOADER=served``; the phone fetches its file by TFTP and
    by HTTP, which confirms the switch."""
    served = {**environment, "PHONEPROV_UPLOADER": "served", "PHONEPROV_CONFIRM_TIMEOUT": "0"}
    tftp_port, http_port = free_port(datagrams=True), free_port()
    name = f"SEP{phone.mac.replace(':', '')}.cnf.xml"
    async with provisioning(served, http_port, tftp_port):
        await run(served, "switch", PROFILE, phone.mac, "--no-wait")
        click.echo("Switched once more, without an FTP server: phoneprov provision has the file.")
        by_tftp = await fetch_by_tftp(phone.host, tftp_port, name)
        async with httpx.AsyncClient(timeout=10, trust_env=False) as web:
            by_http = (await web.get(f"http://{phone.host}:{http_port}/{name}")).content
        if by_tftp != CONFIGURATION.encode() or by_http != by_tftp:
            raise DemoFailed("The file that the phone fetched is not the profile's configuration.")
        click.echo(f"The phone fetched {name}: {len(by_tftp)} bytes by TFTP, and by HTTP.")
    path = f"/api/v1/phones/{phone.mac}/deployments"
    newest = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    reply = await client.get(path, params={"before": newest, "limit": 1})
    [deployment] = reply.json()["data"]
    if deployment["confirmation"] != "confirmed":
        raise DemoFailed("The fetch did not confirm the switch.")
    click.echo(f"The switch is confirmed: {deployment['confirmation_message']}")
