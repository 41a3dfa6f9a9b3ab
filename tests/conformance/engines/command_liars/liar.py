"""A decoder that keeps the protocol, but for one lie, which its first argument names; `honest`
tells none.

Each record becomes one ROW INSERT with its value as the column v. A lie is told at the record whose
value is "lie", so that a call without it goes well, or at a place of its own in the conversation.
"""

import base64
import json
import os
import signal
import sys
import threading
import time

LIE = sys.argv[1] if len(sys.argv) > 1 else "honest"
IN, OUT = sys.stdin.buffer, sys.stdout.buffer


def raw(data):
    OUT.write(data)
    OUT.flush()


def say(**fields):
    OUT.write(json.dumps(fields).encode() + b"\n")


def text(value):
    if value is None or "text" in value:
        return value and value["text"]
    data = base64.b64decode(value["base64"])
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def changes(record, **other):
    image = (
        {"v": text(record["value"]), "zone": os.environ.get("TZ", "")}
        if LIE == "zone"
        else {"v": text(record["value"])}
    )
    say(
        type="changes",
        seq=record["seq"],
        changes=[{"row": 0, "kind": "ROW", "op": "INSERT", "after": image, **other}],
    )


ALTERED = {
    "unknown-kind": {"kind": "Row"},
    "unknown-op": {"op": "UPSERT"},
    "image-no-map": {"after": ["x"]},
    "cell-no-text": {"after": {"v": 5}},
    "unknown-field": {"colour": "red"},
    "undeclared-field": {"position": "1"},
    "negative-row": {"row": -1},
}
"""Lies that one field of a change tells."""
SAID = {
    "error": {"type": "error", "error": "cannot read that"},
    "no-row": {"type": "changes", "changes": [{"kind": "ROW"}]},
    "no-list": {"type": "changes", "changes": {}},
    "sequence-as-text": {"type": "changes", "seq": "2", "changes": []},
    "unknown-type": {"type": "change", "changes": []},
    "rows-at-level-one": {"type": "rows", "rows": []},
    "no-answer": None,
}
"""What is said in place of the record's answer."""
WRITTEN = {
    "print": b"got a record\n",
    "blank": b"\n",
    "array-line": b"[1]\n",
    "invalid-utf-8": b'{"type":"changes","seq":%d,"changes":[{"row":0,"kind":"ROW","after":{"v":"\xff"}}]}\n',
    "lone-surrogate": b'{"type":"changes","seq":%d,"changes":[{"row":0,"kind":"ROW","after":{"v":"a\\ud800b"}}]}\n',
    "nan": b'{"type":"changes","seq":%d,"changes":[{"row":NaN,"kind":"ROW"}]}\n',
}
"""Bytes in place of the record's answer."""
ENDS = {
    "hang": lambda: None,
    "exit-3": lambda: (sys.stderr.write("last words\n"), sys.stderr.flush(), os._exit(3)),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "half-line": lambda: (raw(b'{"type":"changes","seq":'), os._exit(0)),
    "closes-stdin": lambda: os.close(0),
    "closes-stdout": lambda: os.close(1),
}
"""What a decoder does that answers no more."""


def lie(record):
    """Answers the record that the lie is about."""
    seq = record["seq"]
    if LIE in SAID:
        if SAID[LIE]:
            say(**{"seq": seq, **SAID[LIE]})
    elif LIE in WRITTEN:
        raw(WRITTEN[LIE] % seq if b"%d" in WRITTEN[LIE] else WRITTEN[LIE])
    elif LIE in ENDS:
        OUT.flush()
        ENDS[LIE]()
        time.sleep(600)
    elif LIE == "huge-line":
        for _ in range(100):
            raw(b" " * 100_000)
    elif LIE == "ended-early":
        say(type="ended", batch=record["batch"])
        OUT.flush()
        time.sleep(0.5)
    else:
        if LIE == "loud":
            sys.stderr.write(("x" * 9999 + "\n") * 200)
        shown = {"wrong-sequence": seq + 1000, "earlier-batch": 1}.get(LIE, seq)
        changes({**record, "seq": shown}, **ALTERED.get(LIE, {}))
        if LIE == "repeated":
            changes(record)
        if LIE == "wrong-batch":
            say(type="ended", batch=99)


HELLO = {
    "other-version": {"cdc": 2},
    "no-version": {"cdc": None},
    "no-levels": {"levels": []},
    "level-two-only": {"levels": [2]},
    "unknown-claim": {"capabilities": {"profile": ["v7*"]}},
    "claims": {"capabilities": {"profiles": ["v7*"], "kinds": ["ROW"]}},
    "unknown-return": {"returns": ["colour"]},
    "base64": {"bytes": "base64"},
    "tables": {"tables": True},
    "tables-as-text": {"tables": "yes"},
}
"""What the started line has in place of the honest fields."""


def main():
    start = json.loads(IN.readline())
    hello = {"type": "started", "cdc": 1, "name": "liar", "language": "Python", "levels": [1]}
    match LIE:
        case "silent":
            time.sleep(600)
        case "dies-at-start":
            sys.exit("no such library")
        case "noise-at-start":
            raw(b"Starting up ...\n")
        case "noise-with-start":
            OUT.write(b"Starting up ...\n")
        case "refuses":
            say(type="error", error=f"no decoder of {start['format']}")
            OUT.flush()
            time.sleep(600)
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    said = hello | HELLO.get(LIE, {})
    say(**{name: value for name, value in said.items() if value is not None})
    OUT.flush()
    lies = 0
    held = []
    while line := IN.readline():
        asked = json.loads(line)
        match asked["type"]:
            case "begin":
                batch = asked["batch"]
            case "record":
                if LIE in ("backwards", "late"):
                    held.append(asked)
                elif text(asked["value"]) == "lie":
                    lies += 1
                    lie({**asked, "batch": batch})
                else:
                    changes(asked)
            case "end":
                if LIE == "late":
                    time.sleep(0.3)
                for record in reversed(held):
                    changes(record)
                held = []
                say(type="ended", batch=batch)
                if lies and LIE == "goes-on":
                    OUT.flush()
                    time.sleep(0.05)
                    changes({"seq": 1, "value": None})
                if lies and LIE == "dies-after":
                    OUT.flush()
                    time.sleep(0.05)
                    os._exit(4)
                OUT.flush()
                if LIE == "afterthought":
                    threading.Timer(0.3, raw, [b"by the way\n"]).start()
    while LIE == "stubborn":
        time.sleep(1)


main()
