"""The thread that writes the log."""

import logging
import threading

import pytest

from phoneprov_http.main.serving.logs import LogThread


def test_log_thread_interrupted_at_its_start_leaves_no_handler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_thread: threading.Thread) -> None:
        raise SystemExit(0)

    handlers = vars(logging)["_handlerList"]
    known = list(handlers)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(SystemExit) as stopped:
            LogThread(2)

    left = [handler for handler in handlers if handler not in known]
    logging.shutdown(left)

    assert stopped.value.code == 0
    assert left == []
