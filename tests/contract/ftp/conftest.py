"""Fixtures of the FTP suites: certificates, and the rigs."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.ftp_rigs import RIGS, Certificates, Rig, rig_of


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=RIGS)
async def server_rig(
    request: pytest.FixtureRequest, tmp_path: Path, certificates: Certificates
) -> AsyncIterator[Rig]:
    async with rig_of(request.param, tmp_path, certificates) as made:
        yield made
