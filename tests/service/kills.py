"""Kill a service under load, start it again, and look for what it had acknowledged.

    python -m service.kills [--kills 200] [--seed 1]

Exits with 1 if anything is lost, or answered otherwise than before.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

import neardup as nd
from service.serving import Served, new_store, post, texts_of

LEAST = 12
"""Requests that are answered before each kill."""


def kill_under_load(path, kills, seed, *, seconds=0.6):
    """Kill a service some times while four clients add documents; returns what is wrong, and how many documents were acknowledged."""
    rng = random.Random(seed)
    acknowledged, wrong, lock = {}, [], threading.Lock()
    for round_ in range(kills + 1):
        with Served("--store", path, "--quiet") as served:
            if acknowledged:
                wrong += lost(served, acknowledged, rng)
            if round_ == kills:
                assert served.end() == 0
                break

            def write(writer, served=served, round_=round_):
                own = random.Random(f"{seed}/{round_}/{writer}")
                texts = texts_of(own, 400)
                with served.client() as client:
                    for number, text in enumerate(texts):
                        count = own.choice((1, 1, 1, 20))
                        some = [
                            {"id": f"{round_}-{writer}-{number}-{each}", "text": f"{text} {writer} {each}"}
                            for each in range(count)
                        ]
                        body, key = (some[0] if count == 1 else some), f"{round_}-{writer}-{number}"
                        try:
                            answer = post(client, "check-and-add", body, headers={"Idempotency-Key": key})
                        except httpx.TransportError:
                            return
                        assert answer.status_code == 200, answer.text
                        with lock:
                            acknowledged[key] = (body, answer.content)

            with ThreadPoolExecutor(4) as pool:
                writing = [pool.submit(write, writer) for writer in range(4)]
                before = len(acknowledged)
                time.sleep(rng.uniform(0.1, seconds))
                while len(acknowledged) < before + LEAST and not all(each.done() for each in writing):
                    time.sleep(0.01)  # the machine has other work
                served.process.kill()
                for each in writing:
                    each.result()
    return wrong, acknowledged


def lost(served, acknowledged, rng):
    """Requests whose documents are not there, or whose answers are others, after a start."""
    wrong, keys = [], list(acknowledged)
    with served.client() as client:
        for key in rng.sample(keys, min(40, len(keys))) + keys[-40:]:
            body, expected = acknowledged[key]
            if post(client, "check-and-add", body, headers={"Idempotency-Key": key}).content != expected:
                wrong.append(f"{key}: another answer")
        texts = [
            each["text"] for body, _ in acknowledged.values() for each in (body if isinstance(body, list) else [body])
        ]
        for at in range(0, len(texts), 1000):
            answers = post(client, "check", [{"text": each} for each in texts[at : at + 1000]]).json()
            wrong += [f"lost: {text}" for text, each in zip(texts[at:], answers, strict=False) if each["is_new"]]
    return wrong


def main():
    """Kill, count, and verify the store in the end."""
    parser = argparse.ArgumentParser(prog="service.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given, began = parser.parse_args(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong, acknowledged = kill_under_load(new_store(f"{folder}/s"), given.kills, given.seed)
        with nd.Store(f"{folder}/s") as store:
            wrong += store.verify().problems
            told = {
                "kills": given.kills, "requests": len(acknowledged), "documents": len(store), "finds": wrong,
                "seconds": round(time.monotonic() - began),
            }  # fmt: skip
    print(json.dumps(told, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
