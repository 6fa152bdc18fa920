"""Kill services under load, start them again, and look for what they had acknowledged.

    python -m service.kills [--kills 200] [--seed 1] [--only folder | postgresql] [--output FILE]

A store in a folder has one service. A store in PostgreSQL has two, which are killed in turn; what the one had not answered is sent to
the other, with its key. Exits with 1 if anything is lost, or answered otherwise than before.
"""

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

import neardup as nd
import postgres_server
from service.serving import Served, new_store, post, texts_of

LEAST = 12
"""Requests that are answered before each kill."""
WRITERS = 4
LOOKED_FOR = 2_000
"""Earlier documents that are looked for after each kill; at the end, it is all of them."""
AGAIN = (502, 503, 504)


class Killed:
    """Services of one store, and what they have acknowledged.

    Attributes:
        acknowledged: request and answer by key; wrong: what was lost, or answered otherwise.
    """

    def __init__(self, place, count, seed, environment=None):
        self._place, self._environment, self._seed = str(place), environment, seed
        self._rng = random.Random(seed)
        self._count, self.services = count, []
        self.acknowledged, self.wrong = {}, []

    def __enter__(self):
        self.services = [self._started() for _ in range(self._count)]
        return self

    def __exit__(self, *_):
        for each in self.services:
            each.__exit__()

    def _started(self):
        return Served("--store", self._place, "--quiet", environment=self._environment)

    def kill(self, round_, seconds):
        """Kill one of the services while clients add documents, start it again, and look for what it should have."""
        at, before, is_over = round_ % self._count, len(self.acknowledged), threading.Event()
        with ThreadPoolExecutor(WRITERS) as pool:
            writing = [pool.submit(self._write, round_, writer, is_over) for writer in range(WRITERS)]
            time.sleep(self._rng.uniform(0.1, seconds))
            while len(self.acknowledged) < before + LEAST and not all(each.done() for each in writing):
                time.sleep(0.01)  # the machine has other work
            self.services[at].process.kill()
            if self._count > 1:
                time.sleep(self._rng.uniform(0.05, 0.2))  # others go on
            is_over.set()
            for each in writing:
                each.result()
        self.services[at].end()
        self.services[at] = self._started()
        keys = list(self.acknowledged)
        self.look_for(self.services[at], keys[:before], keys[before:])

    def _write(self, round_, writer, is_over):
        own, at = random.Random(f"{self._seed}/{round_}/{writer}"), writer % self._count
        client = self.services[at].client()
        for number, text in enumerate(texts_of(own, 400)):
            body, key = body_of(own, f"{round_}-{writer}-{number}", f"{text} {writer}"), f"{round_}-{writer}-{number}"
            while not is_over.is_set():
                try:
                    answer = post(client, "check-and-add", body, headers={"Idempotency-Key": key})
                except httpx.TransportError:
                    client.close()
                    if self._count == 1:
                        return
                    at = (at + 1) % self._count
                    client = self.services[at].client()
                    continue
                if answer.status_code not in AGAIN:
                    assert answer.status_code == 200, answer.text
                    self.acknowledged[key] = (body, answer.content)
                    break
        client.close()

    def look_for(self, served, earlier, latest):
        """Note requests whose documents are not there, or whose answers are others."""
        some = self._rng.sample(earlier, min(40, len(earlier))) + latest[-40:]
        with served.client() as client:
            for key in some:
                body, expected = self.acknowledged[key]
                if post(client, "check-and-add", body, headers={"Idempotency-Key": key}).content != expected:
                    self.wrong.append(f"{key}: another answer")
            texts = self._texts(self._rng.sample(earlier, min(LOOKED_FOR, len(earlier))))[:LOOKED_FOR]
            self._look_for(client, texts + self._texts(latest))

    def look_for_all(self):
        """Note all documents that are not there."""
        with self.services[0].client() as client:
            self._look_for(client, self._texts(self.acknowledged))

    def _texts(self, keys):
        bodies = [self.acknowledged[key][0] for key in keys]
        return [each["text"] for body in bodies for each in (body if isinstance(body, list) else [body])]

    def _look_for(self, client, texts):
        for at in range(0, len(texts), 1000):
            answers = post(client, "check", [{"text": each} for each in texts[at : at + 1000]]).json()
            self.wrong += [f"lost: {text}" for text, each in zip(texts[at:], answers, strict=False) if each["is_new"]]


def body_of(rng, name, text):
    """One document, or sometimes 20 in an array."""
    some = [{"id": f"{name}-{each}", "text": f"{text} {each}"} for each in range(rng.choice((1, 1, 1, 20)))]
    return some[0] if len(some) == 1 else some


def kill_under_load(place, kills, seed, *, count=1, environment=None, seconds=0.6):
    """Kill services of a store some times while clients add documents; what is wrong, and what was acknowledged."""
    with Killed(place, count, seed, environment) as killed:
        for round_ in range(kills):
            killed.kill(round_, seconds)
        killed.look_for_all()
        killed.wrong += [f"ended with {code}" for code in (each.end() for each in killed.services) if code]
    return killed.wrong, killed.acknowledged


@contextlib.contextmanager
def store_of(kind, folder):
    """The place of a new store, and how many services it has."""
    if kind == "folder":
        yield new_store(f"{folder}/s"), 1
        return
    server = postgres_server.Server().start()
    try:
        yield new_store(server.place("kills")), 2
    finally:
        server.remove()


def killed(kind, kills, seed):
    """The figures of one kind of store."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NEARDUP_CACHE_DIR"] = f"{folder}/cache"
        with store_of(kind, folder) as (place, count):
            wrong, acknowledged = kill_under_load(place, kills, seed, count=count)
            with nd.Store(place) as store:
                wrong += store.verify().problems
                return {
                    "kills": kills, "services": count, "requests": len(acknowledged), "documents": len(store),
                    "finds": wrong, "seconds": round(time.monotonic() - began),
                }  # fmt: skip


def main():
    """Kill, count, and verify the stores in the end."""
    parser = argparse.ArgumentParser(prog="service.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("folder", "postgresql"))
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    told = {}
    for kind in [given.only] if given.only else ("folder", "postgresql"):
        if kind == "postgresql" and (why := postgres_server.why_not()):
            print(f"{kind}: {why}", file=sys.stderr)
            continue
        told[kind] = killed(kind, given.kills, given.seed)
        print(json.dumps({kind: told[kind]}, indent=1), flush=True)
    if given.output:
        given.output.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 1 if any(each["finds"] for each in told.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
