"""A peer for peer_process_test.cpp that behaves as its argument says."""

import json
import os
import signal
import sys
import time

BEHAVIOUR = sys.argv[1]


def say(answer):
    sys.stdout.write(answer if isinstance(answer, str) else json.dumps(answer))
    sys.stdout.write("\n")
    sys.stdout.flush()


def misbehave(when):
    """The behaviours are named MOMENT_WHAT."""
    moment, _, what = BEHAVIOUR.partition("_")
    if moment != when:
        return
    if what == "garbage":
        say("Segmentation fault? {]")
    elif what == "list":
        say([1, 2])
    elif what == "other":
        say({"something": "else"})
    elif what == "exit":
        print("first\nout of luck", file=sys.stderr)
        sys.exit(5)
    elif what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "hang":
        time.sleep(1000)
    elif what == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    elif what == "empty":
        say({"samples_ns": [], "call_overhead_ns": 1})
    elif what == "negative":
        say({"samples_ns": [-5.0], "call_overhead_ns": 1})
    elif what == "nameless":
        say({"nodes": [{"ns": 1}]})
    elif what == "numbers":
        say({"nodes": [{"names": [1], "ns": 1}]})
    elif what == "timeless":
        say({"nodes": [{"names": ["n0"], "ns": -1}]})
    elif what == "error":
        say({"error": "no such device"})
    elif what == "unsupported":
        say({"unsupported": "epilogue add"})
    elif what == "wrong":
        say({"wrong": "output[0,0,0,0] is 1, not 2"})
    else:
        raise ValueError(BEHAVIOUR)


misbehave("start")
say({"peer": "fake", "version": "1.2"})
for line in sys.stdin:
    request = json.loads(line)
    misbehave(request["do"])
    if request["do"] == "profile":
        say({"nodes": [{"names": ["n0", "n1"], "ns": 1500}, {"names": [], "ns": 0}]})
    elif request["do"].startswith("prepare"):
        say({"about": json.dumps(request, sort_keys=True)})
    else:
        say({"samples_ns": [3000.0, 1000, 2000], "call_overhead_ns": 250.5})
