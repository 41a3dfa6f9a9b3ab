"""A stranger's decoder: importing it is the harm. It leaves a file named by HOSTILE_MARKER."""

import os
from pathlib import Path

Path(os.environ["HOSTILE_MARKER"]).write_text("ran", encoding="utf-8")


def decode(records):
    return records
