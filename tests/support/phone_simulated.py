"""The simulated phone with the settings of the tests."""

import hashlib

import aioftp

from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from phoneprov_adapters.simulator.ftp import FileArrived
from phoneprov_adapters.simulator.phone import SimulatedPhone
from support.phone_web import LOOPBACK

NAME = "SEP001BD4123456.cnf.xml"
FTP_PASSWORD = "ftp-secret"


def arrived(name: str, content: bytes) -> FileArrived:
    return FileArrived(name, len(content), hashlib.sha256(content).hexdigest())


def web(phone: SimulatedPhone, user: str = "", password: str = "") -> PhoneWeb:
    settings = PhoneWebSettings(port=phone.http_port, user=user, password=password, timeout=5.0)
    return PhoneWeb(settings, LOOPBACK)


async def logged_in(phone: SimulatedPhone) -> aioftp.Client:
    client = aioftp.Client(socket_timeout=60, passive_commands=("epsv",))
    await client.connect(phone.host, phone.ftp_port)
    await client.login("phoneprov", FTP_PASSWORD)
    return client


async def store(client: aioftp.Client, name: str, content: bytes) -> None:
    async with client.upload_stream(name) as stream:
        await stream.write(content)
