"""A decoder that keeps the protocol, but for one lie, which its first argument names; `honest` tells none.

Each record becomes one ROW INSERT with its value as the column v. A lie is told at the record whose value is "lie", so that a
call without it goes well, or at a place of its own in the conversation.
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
    if value is None:
        return None
    if "text" in value:
        return value["text"]
    data = base64.b64decode(value["base64"])
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def changes(record, **other):
    image = {"v": text(record["value"]), "zone": os.environ.get("TZ", "")} if LIE == "zone" else {"v": text(record["value"])}
    say(type="changes", seq=record["seq"], changes=[{"row": 0, "kind": "ROW", "op": "INSERT", "after": image, **other}])


def lie(record):
    """Answers the record that the lie is about."""
    seq = record["seq"]
    match LIE:
        case "wrong-sequence":
            changes({**record, "seq": seq + 1000})
        case "earlier-batch":
            changes({**record, "seq": 1})
        case "repeated":
            changes(record)
            changes(record)
        case "no-answer":
            pass
        case "error":
            say(type="error", seq=seq, error="cannot read that")
        case "hang":
            OUT.flush()
            time.sleep(600)
        case "exit-3":
            sys.stderr.write("last words\n")
            sys.stderr.flush()
            OUT.flush()
            os._exit(3)
        case "killed":
            OUT.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        case "print":
            raw(b"got a record\n")
            changes(record)
        case "blank":
            raw(b"\n")
            changes(record)
        case "invalid-utf-8":
            raw(b'{"type":"changes","seq":%d,"changes":[{"row":0,"kind":"ROW","after":{"v":"\xff"}}]}\n' % seq)
        case "lone-surrogate":
            raw(b'{"type":"changes","seq":%d,"changes":[{"row":0,"kind":"ROW","after":{"v":"a\\ud800b"}}]}\n' % seq)
        case "nan":
            raw(b'{"type":"changes","seq":%d,"changes":[{"row":NaN,"kind":"ROW"}]}\n' % seq)
        case "half-line":
            raw(b'{"type":"changes","seq":')
            os._exit(0)
        case "huge-line":
            for _ in range(100):
                raw(b" " * 100_000)
        case "unknown-kind":
            changes(record, kind="Row")
        case "unknown-op":
            changes(record, op="UPSERT")
        case "image-no-map":
            changes(record, after=["x"])
        case "cell-no-text":
            changes(record, after={"v": 5})
        case "unknown-field":
            changes(record, colour="red")
        case "undeclared-field":
            changes(record, position="1")
        case "negative-row":
            changes(record, row=-1)
        case "no-row":
            say(type="changes", seq=seq, changes=[{"kind": "ROW"}])
        case "no-list":
            say(type="changes", seq=seq, changes={})
        case "sequence-as-text":
            say(type="changes", seq=str(seq), changes=[])
        case "unknown-type":
            say(type="change", seq=seq, changes=[])
        case "rows-at-level-one":
            say(type="rows", seq=seq, rows=[])
        case "array-line":
            raw(b"[1]\n")
        case "ended-early":
            say(type="ended", batch=record["batch"])
            OUT.flush()
            time.sleep(0.5)
        case "wrong-batch":
            changes(record)
            say(type="ended", batch=99)
        case "loud":
            for _ in range(200):
                sys.stderr.write("x" * 9999 + "\n")
            changes(record)
        case "closes-stdin":
            os.close(0)
            OUT.flush()
            time.sleep(600)
        case "closes-stdout":
            OUT.flush()
            os.close(1)
            time.sleep(600)
        case _:
            changes(record)


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
        case "other-version":
            hello["cdc"] = 2
        case "no-version":
            del hello["cdc"]
        case "no-levels":
            hello["levels"] = []
        case "level-two-only":
            hello["levels"] = [2]
        case "unknown-claim":
            hello["capabilities"] = {"profile": ["v7*"]}
        case "claims":
            hello["capabilities"] = {"profiles": ["v7*"], "kinds": ["ROW"]}
        case "unknown-return":
            hello["returns"] = ["colour"]
        case "base64":
            hello["bytes"] = "base64"
        case "tables":
            hello["tables"] = True
        case "tables-as-text":
            hello["tables"] = "yes"
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(**hello)
    OUT.flush()
    told = 0
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
                    told += 1
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
                if told and LIE == "goes-on":
                    OUT.flush()
                    time.sleep(0.05)
                    changes({"seq": 1, "value": None})
                if told and LIE == "dies-after":
                    OUT.flush()
                    time.sleep(0.05)
                    os._exit(4)
                OUT.flush()
                if LIE == "afterthought":
                    threading.Timer(0.3, raw, [b"by the way\n"]).start()
    while LIE == "stubborn":
        time.sleep(1)


main()
