"""The permissions of the new file, which phones may read through a TFTP server of another user.

With its default umask 077, vsftpd gives an uploaded file the mode 0600. The new file gets the mode
of the old one by SITE CHMOD before the rename; a first file that only its owner can read gets 0644.
"""

from phoneprov_adapters.ftp.session import FtpSession

_READ_AND_WRITE = 0o666
_OWN, _FIRST = 0o600, 0o644


async def kept_mode(session: FtpSession, name: str, final: str) -> tuple[str, ...]:
    """Give the file ``name`` the mode of the file ``final``, which it will replace. Returns the
    notes for the step. Raises like ``FtpSession.mode``."""
    found = await session.mode(name)
    if found is None:
        return ()
    old = await session.mode(final)
    new = found & _READ_AND_WRITE
    wanted = new
    if old is not None:
        wanted |= old & _READ_AND_WRITE
    elif new == _OWN:
        wanted = _FIRST
    if wanted != new and await session.change_mode(name, wanted):
        new = (await session.mode(name) or wanted) & _READ_AND_WRITE
    if wanted != new:
        was = "" if old is None else f", the old one had {old:04o}"
        return (f"the new file has the mode {new:04o}{was}: {ADVICE}",)
    return (f"only its owner can read the file (mode {new:04o}): {ADVICE}",) if new == _OWN else ()


ADVICE = (
    "a TFTP or HTTP server that runs as another user cannot read it; set the umask of the FTP "
    "server to 022 (vsftpd: local_umask=022, anon_umask=022), or allow SITE CHMOD (vsftpd: "
    "chmod_enable=YES)"
)
