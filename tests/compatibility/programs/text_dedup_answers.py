"""text-dedup: the features that its SimHash hashes, the fingerprints, and which texts its command keeps."""

import inspect
import json
import subprocess
import sys
import tempfile

question = json.load(sys.stdin)
sys.path.insert(0, question["releases"])

from text_dedup import simhash as tool  # noqa: E402

hashed = []
unsigned_hash = tool._unsigned_hash


def remembered(feature, *args, **options):
    hashed.append(feature.decode())
    return unsigned_hash(feature, *args, **options)


def fingerprint(text):
    """In hexadecimal; releases differ in what they take and give."""
    options = {"ngram": 3, "f": question["bits"], "permutations": None}
    if "hash_func" in inspect.signature(tool.embed_func).parameters:
        options["hash_func"] = {64: tool.xxh3_64_digest, 128: tool.xxh3_128_digest}[question["bits"]]
    taken = inspect.signature(tool.embed_func).parameters
    found = tool.embed_func(text, 0, **{name: value for name, value in options.items() if name in taken})
    value = found["__signature__"]
    return value.hex() if isinstance(value, bytes) else f"{int(value):016x}"


found = {"features": [], "fingerprints": []}
tool._unsigned_hash = remembered
for text in question["texts"]:
    hashed.clear()
    found["fingerprints"].append(fingerprint(text))
    found["features"].append(list(hashed))

if question.get("command"):
    import datasets

    with tempfile.TemporaryDirectory() as folder:
        rows = {"row": list(range(len(question["texts"]))), "text": question["texts"]}
        datasets.Dataset.from_dict(rows).save_to_disk(f"{folder}/in")
        command = [sys.executable, "-W", "ignore", "-m", "text_dedup.simhash", "--local", "--path", f"{folder}/in"]
        command += ["--cache_dir", f"{folder}/cache", "--output", f"{folder}/out", "--column", "text"]
        environment = {"PYTHONPATH": question["releases"], "HF_HOME": f"{folder}/home", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        found["stopped"] = done.stderr.strip().splitlines()[-1] if done.returncode else ""
        if not done.returncode:
            found["kept"] = datasets.load_from_disk(f"{folder}/out")["row"][:]
print(json.dumps(found))
