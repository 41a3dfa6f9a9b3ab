"""What the lies of TiCDC's formats share."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import respelled

HTML_RAW: Final = respelled({"\\u003c": "<", "\\u003e": ">", "\\u0026": "&"})
"""The characters of HTML without the escapes of Go's encoding/json."""
