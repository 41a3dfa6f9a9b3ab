"""Ctrl-C and SIGTERM: each ends the command as KeyboardInterrupt, wherever the main thread is when
it comes.

An interrupt would be lost in four ways. Python drops an exception that is raised inside a finaliser
or a callback of the garbage collector (Hypothesis installs one), and calls `sys.unraisablehook`; a
module in C may drop one while it is imported, as NumPy's do: it is raised a little later. A signal
that comes while the main thread is about to wait, as while it gives the interpreter's lock to
another thread, is seen when the wait ends: a thread wakes the main thread. A library may answer an
interrupt with an error of its own: `surface_interrupts` raises what that hides.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

__all__ = ["install_handlers", "surface_interrupts"]

_AGAIN_S: Final = 0.01
"""Seconds between two reminders of an interrupt: longer than most finalisers take."""
_WAKING_S: Final = 2.0
"""Seconds for which the main thread is woken again and again after a signal: on a busy machine it
may be about to wait for that long.
"""
_REMINDER: Final = signal.SIGURG
"""The signal by which the main thread is reminded of an interrupt: nobody else sends it to us, and
it does nothing if no interrupt is pending.
"""


class _Interrupt(KeyboardInterrupt):
    """The exception that an interrupt raises. A plain KeyboardInterrupt that was raised in code
    given as text, as that of a dataclass is, makes Python end by SIGINT with exit code -2, even if
    it was caught.
    """


def install_handlers() -> None:
    """Makes SIGTERM interrupt this process like Ctrl-C; no interrupt is lost."""
    pending_interrupt = threading.Event()

    def keep_pending() -> None:
        """Notes that an interrupt is still to be raised, and wakes the thread that reminds."""
        pending_interrupt.set()
        with contextlib.suppress(BlockingIOError):
            os.write(writing, b"\0")

    def would_be_lost(frame: FrameType | None) -> bool:
        """Whether an exception that is raised at this frame would be lost: always inside Python's
        hook for exceptions that it cannot raise, possibly in the middle of an import.
        """
        codes = [above.f_code for above, _ in traceback.walk_stack(frame)]
        return unraisable.__code__ in codes or any(
            code.co_filename.startswith("<frozen importlib") for code in codes
        )

    def interrupt(_signal: int, frame: FrameType | None) -> None:
        """The handler of SIGINT and SIGTERM: raises the interrupt, or keeps it pending where the
        exception would be lost.
        """
        if not would_be_lost(frame):
            raise _Interrupt
        keep_pending()

    def remind(_signal: int, frame: FrameType | None) -> None:
        """The handler of a reminder: raises the pending interrupt, if there is one, unless the
        exception would be lost here, too.
        """
        if pending_interrupt.is_set() and not would_be_lost(frame):
            pending_interrupt.clear()
            raise _Interrupt

    def unraisable(unraised: UnraisableHookArgs) -> None:
        """Python's hook for exceptions that it cannot raise: keeps an interrupt pending; anything
        else goes to Python's own hook.
        """
        if isinstance(unraised.exc_value, KeyboardInterrupt):
            keep_pending()
        else:
            sys.__unraisablehook__(unraised)

    def wake() -> None:
        """The loop of a thread: after each signal it sends reminders to the main thread, for
        _WAKING_S seconds and as long as an interrupt is pending, so that no system call goes on
        waiting.
        """
        # A signal ends a call of the system that waits, but not when it comes just before the call:
        # so there are many.
        while True:
            if set(os.read(reading, 1 << 16)) == {_REMINDER}:
                continue
            until = time.monotonic() + _WAKING_S
            while pending_interrupt.is_set() or time.monotonic() < until:
                time.sleep(_AGAIN_S)
                signal.pthread_kill(main, _REMINDER)

    main = threading.main_thread().ident or 0
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    threading.Thread(target=wake, name="interrupts", daemon=True).start()
    signal.signal(signal.SIGTERM, interrupt)
    # A run in the background of a script ignores Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    signal.signal(_REMINDER, remind)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sys.unraisablehook = unraisable


@contextlib.contextmanager
def surface_interrupts() -> Iterator[None]:
    """A context: if an error leaves it that was raised while a KeyboardInterrupt was being handled,
    the KeyboardInterrupt leaves it instead.
    """
    try:
        yield
    except Exception as error:
        hidden: BaseException | None = error
        while hidden is not None and not isinstance(hidden, KeyboardInterrupt):
            hidden = hidden.__cause__ or hidden.__context__
        if hidden is None:
            raise
        raise hidden from None
