"""The contract of a ``ConfigUploader`` that connects to the phone itself."""

from __future__ import annotations

import pytest

from phoneprov_adapters.testing.uploader_rig import IP, NAME, PROFILE, UploaderRig, an_upload
from phoneprov_core.devices.ports import ConfigUploader
from phoneprov_core.kernel.errors import Conflict


@pytest.mark.asyncio
class PhoneUploaderContract:
    """The rest of the contract, for an uploader that connects to the phone itself. Give it the
    fixture ``rig`` as well, and ``elsewhere``: an uploader that is not allowed to connect to the
    phone's address."""

    @pytest.fixture
    def elsewhere(self, rig: UploaderRig) -> ConfigUploader:
        """An uploader that may not connect to the phone; override it."""
        raise NotImplementedError("give your subclass a fixture 'elsewhere'")

    async def test_phone_without_an_address_is_a_conflict(self, rig: UploaderRig) -> None:
        with pytest.raises(Conflict) as caught:
            await rig.uploader.upload(an_upload(PROFILE, ip=None))

        assert caught.value.code == "no_address"

    async def test_address_outside_the_phone_networks_is_a_conflict(
        self, rig: UploaderRig, elsewhere: ConfigUploader
    ) -> None:
        with pytest.raises(Conflict) as caught:
            await elsewhere.upload(an_upload(PROFILE))

        assert caught.value.code == "address_not_allowed"
        assert rig.read() == {}

    async def test_ipv4_mapped_address_is_called_as_ipv4(self, rig: UploaderRig) -> None:
        uploaded = await rig.uploader.upload(an_upload(PROFILE, ip=f"::ffff:{IP}"))

        assert uploaded.place == f"{rig.server}/{NAME}"
