"""Vendor phone flags."""

from __future__ import annotations

from litestar import delete, get, put
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.vendor_phones.model import VendorPhone, VendorPhoneFlag
from phoneprov_core.vendor_phones.use_cases import VendorPhones
from phoneprov_http.describe import described
from phoneprov_http.replies import done, listed
from phoneprov_http.requests import AnyRequest, Requests, page
from phoneprov_http.routes.router import Router


def vendor_phone_routes(requests: Requests, vendor_phones: VendorPhones) -> Router:
    """``/vendor-phones``."""

    @get(
        "/",
        opt=described(
            "List vendor phone flags",
            "2 vendor phone(s) found",
            reply=list[VendorPhone],
            listed=True,
        ),
    )
    async def all_vendor_phones(request: AnyRequest) -> ASGIResponse:
        """Every vendor phone flag, oldest first."""
        actor = await requests.caller(request)
        return await listed(await vendor_phones.all(actor, page(request)), "vendor phone")

    @get(
        "/{mac:str}",
        opt=described(
            "Read a vendor phone flag", "Vendor phone found", reply=VendorPhone, errors=(404,)
        ),
    )
    async def get_vendor_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """One phone's flag, its MAC in any spelling."""
        actor = await requests.caller(request)
        return done("Vendor phone found", await vendor_phones.get(actor, mac))

    @put(
        "/{mac:str}",
        opt=described(
            "Set a vendor phone flag",
            "Vendor phone saved",
            body=VendorPhoneFlag,
            reply=VendorPhone,
            errors=(403,),
        ),
    )
    async def save_vendor_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """Set a phone's flag, for the first time or again; the phone need not be recorded
        yet. A MAC in the body must be that of the path."""
        actor = await requests.caller(request)
        sent = await requests.sent(request, VendorPhoneFlag)
        return done("Vendor phone saved", await vendor_phones.save(actor, mac, sent))

    @delete(
        "/{mac:str}",
        status_code=200,
        opt=described("Delete a vendor phone flag", "Vendor phone deleted", errors=(403, 404)),
    )
    async def delete_vendor_phone(request: AnyRequest, mac: FromPath[str]) -> ASGIResponse:
        """Delete a phone's flag; the phone itself stays."""
        await vendor_phones.delete(await requests.caller(request), mac)
        return done("Vendor phone deleted")

    return Router(
        "/vendor-phones",
        route_handlers=[
            all_vendor_phones,
            get_vendor_phone,
            save_vendor_phone,
            delete_vendor_phone,
        ],
        tags=["Vendor phones"],
    )
