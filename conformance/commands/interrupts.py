"""Ctrl-C and SIGTERM: each ends the command as KeyboardInterrupt, wherever the main thread is when it comes.

Python drops an exception that is raised inside a finaliser or a callback of the garbage collector (Hypothesis installs one): it
calls `sys.unraisablehook` and goes on. An interrupt that comes at such a moment is sent again a little later.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["heed"]

_AGAIN_S: Final = 0.01
"""Seconds until a dropped interrupt is sent again: longer than most finalisers take."""


def heed() -> None:
    """Lets SIGTERM interrupt this process like Ctrl-C, and sends an interrupt that was dropped again."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _unraisable


def _terminate(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _unraisable(dropped: UnraisableHookArgs) -> None:
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    # A real signal, to the main thread, also ends a call of the system that waits.
    later = threading.Timer(_AGAIN_S, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    later.daemon = True
    later.start()
