"""Ctrl-C and SIGTERM: each ends the command as KeyboardInterrupt, wherever the main thread is when it comes.

Python drops an exception that is raised inside a finaliser or a callback of the garbage collector (Hypothesis installs one): it
calls `sys.unraisablehook` and goes on. An interrupt that comes at such a moment is raised again a little later.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

__all__ = ["heed"]

_AGAIN_S: Final = 0.01
"""Seconds between reminders of a dropped interrupt: longer than most finalisers take."""
_REMINDER: Final = signal.SIGURG
"""The signal of a reminder: nobody else sends it to us, and it does nothing where no interrupt was dropped."""


def heed() -> None:
    """Lets SIGTERM interrupt this process like Ctrl-C, and raises an interrupt that was dropped again."""
    dropped = threading.Event()

    def remind(_signal: int, frame: FrameType | None) -> None:
        # What the hook itself raises is lost for good: the next reminder comes after it.
        if dropped.is_set() and all(above.f_code is not unraisable.__code__ for above, _ in traceback.walk_stack(frame)):
            dropped.clear()
            raise KeyboardInterrupt

    def unraisable(unraised: UnraisableHookArgs) -> None:
        if not isinstance(unraised.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(unraised)
            return
        dropped.set()
        threading.Thread(target=send, daemon=True).start()

    def send() -> None:
        # A signal ends a call of the system that waits, but not when it comes just before the call: so there are many.
        while dropped.is_set():
            time.sleep(_AGAIN_S)
            signal.pthread_kill(main, _REMINDER)

    main = threading.main_thread().ident or 0
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(_REMINDER, remind)
    sys.unraisablehook = unraisable


def _terminate(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt
