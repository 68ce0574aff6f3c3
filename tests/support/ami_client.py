"""The manager client with the settings of the tests."""

from typing import Any

from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.manager import Manager
from phoneprov_core.switching.devices.commands import sccp_restart, sip_restart
from support.ami_stub import SECRET, USER, AmiStub

MAC = "00:1B:D4:12:34:56"
RESTART, NOTIFY = sccp_restart(MAC), sip_restart(MAC)
TIMEOUT = 0.3
"""For calls that time out; others have enough time on a busy machine."""
SLACK = 3.0


def connection(stub: AmiStub, **changes: Any) -> ManagerConnection:
    """A connection to the stub; ``changes`` are settings."""
    values: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": stub.port,
        "user": USER,
        "secret": SECRET,
        "timeout": 10.0,
    }
    return ManagerConnection(ManagerSettings(**(values | changes)))


def manager(stub: AmiStub, **changes: Any) -> Manager:
    return Manager(connection(stub, **changes))
