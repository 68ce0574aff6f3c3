"""The newest timeline of each PostgreSQL cluster that this host has seen."""

import contextlib
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec


class Timelines:
    """Stores the newest timeline of each cluster in ``file``, also for later processes.

    Every promotion of a standby begins a new timeline with a larger number. A primary on an older
    timeline was replaced: its changes are lost.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._newest: dict[str, int] = {}

    def newest(self, cluster: str) -> int:
        """The newest timeline seen of a cluster; 0 if none. Reads the file: other processes
        of this host write it too."""
        for name, timeline in self._kept().items():
            self._newest[name] = max(timeline, self._newest.get(name, 0))
        return self._newest.get(cluster, 0)

    def saw(self, cluster: str, timeline: int) -> None:
        """Store a timeline that is newer than the earlier ones."""
        if timeline <= self.newest(cluster):
            return
        self._newest[cluster] = timeline
        if self._file is None:
            return
        # Without the file the process still has it in memory.
        with contextlib.suppress(OSError):
            with NamedTemporaryFile(dir=self._file.parent, delete=False) as written:
                written.write(msgspec.json.encode(self._newest))
            Path(written.name).replace(self._file)

    def _kept(self) -> dict[str, int]:
        if self._file is None:
            return {}
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, int])
        except (OSError, msgspec.DecodeError):
            return {}
