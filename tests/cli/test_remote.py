"""Inputs and outputs in object stores: what is written there is what is written here."""

import csv
import gzip
import io
import json
import signal
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import s3fs
import zstandard
from cli_corpora import BREAD, CLOCK, FERRY, ROWS, lines, read_lines
from object_store import Store

import neardup
from neardup.io.corpora.file_corpus import open_corpus
from neardup.io.corpora.reading import Reading
from neardup.io.storage import remote, stores
from neardup.io.storage.remote import RemotePath

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_MAX_ATTEMPTS": "1",
    "AWS_CONFIG_FILE": "missing",
    "AWS_SHARED_CREDENTIALS_FILE": "missing",
}


@pytest.fixture(scope="module")
def running_store():
    found = Store()
    yield found
    found.close()


def forget():
    s3fs.S3FileSystem.clear_instance_cache()
    stores.store_of.cache_clear()


@pytest.fixture
def store(running_store, monkeypatch):
    """An empty bucket, `corpus`, and no waiting between attempts."""
    running_store.clear()
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", running_store.proxy.url)
    monkeypatch.setattr(stores, "RETRY_SECONDS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)  # its own attempts, with waits of its own
    forget()
    yield running_store
    assert running_store.unfinished() == []
    forget()


def table(rows):
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["id", "text"], *([row["id"], row["text"]] for row in rows)])
    return out.getvalue().encode()


def parquet(rows):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, row_group_size=2)
    return out.getvalue()


OTHER_ROWS = [{"id": "clock", "text": CLOCK}, {"id": "again", "text": FERRY}, {"id": "loaf", "text": BREAD + " now"}]
FORMATS = {
    "jsonl": lines,
    "jsonl.gz": lambda rows: gzip.compress(lines(rows)),
    "jsonl.zst": lambda rows: zstandard.compress(lines(rows)),
    "csv": table,
    "parquet": parquet,
}


def put_here_and_there(store, ending):
    for name, rows in (("a", ROWS), ("deep/b", OTHER_ROWS)):
        content = FORMATS[ending](rows)
        path = Path(f"in/{name}.{ending}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        store.put(f"in/{name}.{ending}", content)


def below(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
    }


def there(store, prefix):
    return {key.removeprefix(prefix): store.get(key) for key in store.keys(prefix)}


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet"])
def test_a_store_gets_byte_for_byte_what_a_folder_gets(run, store, ending):
    put_here_and_there(store, ending)
    assert run("dedup", "in", "-o", "out/").code == 0
    done = run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/")
    assert (done.code, done.err.count("audit    s3://corpus/out.duplicates.jsonl\n")) == (0, 1)
    assert there(store, "out/") == below("out")
    assert len(below("out")) == 2
    audit = store.get("out.duplicates.jsonl")
    assert audit.replace(b"s3://corpus/", b"") == Path("out.duplicates.jsonl").read_bytes()
    assert json.loads(store.get("out.summary.json"))["survivors"] == 4


def test_fingerprints_of_other_programs_come_from_a_store_and_go_there(run, store):
    store.put("in/a.csv.gz", gzip.compress(b"id,fp\nx,00ff\ny,00fe\n"))
    store.put("in/b.jsonl", b'{"id": "z", "fp": "abcd"}\n')
    column = ("--fingerprint", "fp", "--digits", "hexadecimal")
    assert run("fingerprint", "s3://corpus/in", *column, "-o", "s3://corpus/prints.parquet").code == 0
    run("fingerprint", "s3://corpus/prints.parquet", "-o", "s3://corpus/out.txt", "--digits", "decimal").ok()
    assert store.get("out.txt") == b"255\n254\n43981\n"


def test_text_files_in_a_store_are_kept_or_absent(run, store):
    for name, text in (("a", FERRY), ("b", BREAD), ("deep/c", FERRY)):
        store.put(f"in/{name}.txt", text.encode() + b"\r\n")
        store.put(f"in/{name}.txt.gz", gzip.compress(text.encode()))
    store.put("out/deep/c.txt", b"of an earlier run")
    assert run("dedup", "s3://corpus/in/", "-o", "s3://corpus/out/", "--overwrite").code == 0
    assert there(store, "out/") == {"a.txt": FERRY.encode() + b"\r\n", "b.txt": BREAD.encode() + b"\r\n"}


def test_standard_output_and_local_files_go_with_remote_ones(run, store):
    store.put("in.jsonl", lines(ROWS))
    assert run("dedup", "s3://corpus/in.jsonl", "-o", "-").out == lines([ROWS[0], ROWS[2], ROWS[4]])
    assert run("dedup", "s3://corpus/in.jsonl", "-o", "out.jsonl", "--audit", "s3://corpus/why.jsonl").code == 0
    assert run("dedup", "out.jsonl", "-o", "s3://corpus/again.jsonl").code == 0
    assert store.get("again.jsonl") == Path("out.jsonl").read_bytes() == lines([ROWS[0], ROWS[2], ROWS[4]])
    assert len(store.get("why.jsonl").splitlines()) == 2


def test_globs_and_folders_of_a_store_are_listed_as_here(run, store):
    for name in ("in/a.jsonl", "in/deep/b.jsonl", "in/.hidden.jsonl", "in/deep/c.json", "in/note.pdf", "other/a.jsonl"):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines([{"text": name}]))
        store.put(name, path.read_bytes())
    store.put("in/empty/", b"")  # how consoles make a folder

    def relative(given):
        shards = neardup_shards(given)
        return [(shard.name.removeprefix("s3://corpus/"), shard.relative, shard.size) for shard in shards]

    for given in ("in", "in/", "in/*.jsonl", "in/**/*.jsonl", "*/a.jsonl", "in/d*", "in/**/*.json", "in/.h*"):
        assert relative(f"s3://corpus/{given}") == relative(given), given


def neardup_shards(given):
    from neardup.io.corpora.shards import find_shards

    return find_shards(given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s3://corpus/missing.jsonl"], "s3://corpus/missing.jsonl: there is no such file, folder or bucket"),
        (["s3://corpus/missing/"], "s3://corpus/missing/: there is no such file, folder or bucket"),
        (["s3://nowhere/in.jsonl"], "s3://nowhere/in.jsonl: there is no such file, folder or bucket"),
        (["s3://corpus/*.csv"], "s3://corpus/*.csv: no file matches"),
        (["s3://corpus/in.jsonl", "s3://corpus/*.jsonl"], "s3://corpus/in.jsonl is given twice"),
        (["s3://corpus/in.xyz"], "the ending does not tell the format"),
        (["nosuch://host/in.jsonl"], "nosuch:// is no kind of URL that fsspec knows"),
    ],
)
def test_inputs_that_cannot_be_are_refused(run, store, arguments, message):
    store.put("in.jsonl", lines(ROWS))
    store.put("in.xyz", b"")
    run("dedup", *arguments, "-o", "s3://corpus/out.jsonl").refused(message)
    assert store.keys() == ["in.jsonl", "in.xyz"]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("s3://corpus/in.jsonl", "s3://corpus/in.jsonl is an input, and no run replaces what it reads"),
        ("s3://corpus/there.jsonl", "s3://corpus/there.jsonl exists already. Name another output, or pass --overwrite"),
        ("s3://nowhere/out.jsonl", "cannot be written: there is no such file, folder or bucket"),
        ("s3://corpus/out", "the ending does not tell the format of the output"),
        ("s3://corpus/folder.jsonl", "s3://corpus/folder.jsonl is a folder"),
        ("s3://corpus/", "s3://corpus/in.jsonl is an input, and no run replaces what it reads"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_any_work(run, store, out, message):
    keys = ["folder.jsonl/a.jsonl", "in.jsonl", "there.jsonl"]
    for key in keys:
        store.put(key, lines(ROWS))
    run("dedup", "s3://corpus/in.jsonl", "-o", out).refused(message)
    assert store.keys() == keys


def test_an_input_is_never_replaced(run, store):
    store.put("in.jsonl", lines(ROWS))
    for out in ("s3://corpus/in.jsonl", "s3://corpus/"):
        run("dedup", "s3://corpus/in.jsonl", "-o", out, "--overwrite").refused(
            "in.jsonl is an input, and no run replaces what it reads."
        )
    assert store.get("in.jsonl") == lines(ROWS)


def test_an_output_among_the_inputs_is_refused(run, store):
    store.put("all/in/a.jsonl", lines(ROWS))
    run("dedup", "s3://corpus/all/in", "-o", "s3://corpus/all/").refused("lies in the output folder s3://corpus/all/")


@pytest.mark.parametrize("method", ["HEAD", "POST", "GET"])
def test_denied_credentials_are_told_and_not_tried_again(run, store, method):
    store.put("in.jsonl", lines(ROWS))
    store.proxy.fault = lambda asked, path: 403 if asked == method else None
    run("dedup", "s3://corpus/in.jsonl", "-o", "s3://corpus/out.jsonl").refused(
        "the store denies access", "check the credentials"
    )
    store.proxy.fault = lambda asked, path: None
    assert store.keys() == ["in.jsonl"]


def test_missing_credentials_are_told(run, store, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    run("dedup", "s3://corpus/in.jsonl", "-o", "out.jsonl").refused("the store denies access (", "credentials")


def fails(times, method, part="", answer=503):
    """A fault of the first so many requests of a method whose path has `part`."""
    failed = []

    def fault(asked, path):
        if asked == method and part in path and len(failed) < times:
            failed.append(path)
            return answer
        return None

    return fault


@pytest.mark.parametrize("answer", [503, "cut"])
@pytest.mark.parametrize("ending", ["jsonl.gz", "parquet"])
def test_a_failing_read_is_tried_again(run, store, ending, answer):
    put_here_and_there(store, ending)
    store.proxy.fault = fails(3, "GET", f"/in/a.{ending}", answer)
    assert run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/").code == 0
    run("dedup", "in", "-o", "out/")
    assert there(store, "out/") == below("out")


@pytest.mark.parametrize("answer", [503, "cut"])
@pytest.mark.parametrize("ending", ["jsonl", "parquet", "txt"])
def test_a_read_that_fails_for_ever_ends_with_a_clear_error(run, store, ending, answer):
    content = FERRY.encode() if ending == "txt" else FORMATS[ending](ROWS)
    store.put(f"in/a.{ending}", content)
    store.proxy.fault = lambda method, path: answer if method == "GET" and "/in/a" in path else None
    run("dedup", f"s3://corpus/in/a.{ending}", "-o", "s3://corpus/out/").refused(
        f"s3://corpus/in/a.{ending}: reading bytes ",
        " failed 4 times, at last with: ",
        "Check the connection and the store, then run again.",
        code=1,
    )
    assert store.keys() == [f"in/a.{ending}"]


def test_a_store_that_does_not_answer_ends_with_a_clear_error(run, store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody listens
    run("dedup", "s3://corpus/in.jsonl", "-o", "out.jsonl").refused(
        "s3://corpus/in.jsonl: looking at it failed 4 times", code=1
    )


def test_waits_between_attempts_grow(store, monkeypatch):
    waited = []
    monkeypatch.setattr(stores, "RETRY_SECONDS", (1.0, 4.0, 15.0))
    monkeypatch.setattr(stores.time, "sleep", waited.append)
    store.put("in.jsonl", b"content")
    store.proxy.fault = fails(99, "GET", "/in.jsonl")
    with pytest.raises(neardup.TransferError) as told:
        RemotePath("s3://corpus/in.jsonl").read_bytes()
    assert waited == [1.0, 4.0, 15.0]
    assert (told.value.url, told.value.attempts) == ("s3://corpus/in.jsonl", 4)


def test_a_failing_write_is_tried_again(run, store):
    put_here_and_there(store, "jsonl")
    store.proxy.fault = fails(3, "PUT", "/out/")
    assert run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/").code == 0
    run("dedup", "in", "-o", "out/")
    assert there(store, "out/") == below("out")


@pytest.mark.parametrize("answer", [503, 403])
@pytest.mark.parametrize("part", ["/out.duplicates.jsonl", "/out/a", "/out/deep/b", "/out.summary"])
def test_a_write_that_fails_for_ever_leaves_nothing(run, store, part, answer):
    put_here_and_there(store, "jsonl")
    before = store.keys()
    store.proxy.fault = lambda method, path: answer if method == "PUT" and part in path else None
    done = run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/")
    assert done.code == (1 if answer == 503 else 2)
    message = "writing it failed 4 times" if answer == 503 else "cannot be written: the store denies access"
    assert (f"s3://corpus{part}" in done.err, message in done.err) == (True, True), done.err
    assert store.keys() == before


def test_a_write_whose_answer_is_lost_leaves_nothing(run, store):
    put_here_and_there(store, "jsonl")
    before = store.keys()
    store.proxy.fault = lambda method, path: "lost" if method == "PUT" and "/out/a" in path else None
    assert run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/").code == 1
    assert store.keys() == before


@pytest.mark.parametrize(("method", "mark"), [("DELETE", "uploadId"), ("POST", "uploadId"), ("POST", "uploads")])
def test_an_upload_whose_answer_is_lost_once_is_tried_again(run, store, monkeypatch, method, mark):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")  # so that a request is sent twice
    monkeypatch.setattr(remote, "UPLOAD_PART_BYTES", 5 << 20)  # the least that S3 allows of a part
    rows = [{"id": i, "text": f"{i} " * 1_000_000} for i in range(4)]
    store.put("in/a.jsonl", lines(rows))
    lost = []

    def fault(verb, path):
        if (verb, lost) == (method, []) and mark in path and "/out/a" in path:
            lost.append(path)
            return "lost"
        return None

    store.proxy.fault = fault
    done = run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/", "--min-similarity", "1")
    assert (done.code, len(lost)) == (0, 1), done.err
    assert store.get("out/a.jsonl") == lines(rows)
    for upload in store.unfinished():  # begun by the lost answer, which nobody can know the name of
        assert (method, mark) == ("POST", "uploads"), upload
    store.clear()


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("part", ["/out.duplicates.jsonl", "/out/a"])
def test_an_interrupt_while_files_are_sent_leaves_nothing(start, store, part, is_done):
    put_here_and_there(store, "jsonl")
    before = store.keys()
    ready, sent = threading.Event(), threading.Event()

    def interrupt():
        ready.wait(60)
        if not sent.is_set():
            sent.set()
            process.send_signal(signal.SIGTERM)

    def fault(method, path):
        if method != "PUT" or part not in path:
            return None
        if is_done:
            return interrupt
        interrupt()
        return "dropped"

    store.proxy.fault = fault
    process = start("dedup", "s3://corpus/in", "-o", "s3://corpus/out/")
    ready.set()
    _, err = process.communicate(timeout=120)
    assert (process.returncode, b"interrupted" in err) == (130, True), err
    store.proxy.fault = lambda method, path: None
    assert store.keys() == before


def test_what_was_there_stays_when_its_replacement_fails(run, store):
    put_here_and_there(store, "jsonl")
    store.put("out/a.jsonl", b"old")
    store.proxy.fault = lambda method, path: 503 if method == "PUT" and "/out/a" in path else None
    assert run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/", "--overwrite").code == 1
    assert store.get("out/a.jsonl") == b"old"
    assert store.keys("out") == ["out/a.jsonl"]


@pytest.mark.parametrize("times", [1, 99])
def test_large_files_go_in_parts_that_are_given_up_together(store, monkeypatch, times):
    monkeypatch.setattr(remote, "UPLOAD_PART_BYTES", 5 << 20)
    content = bytes(range(256)) * (12 << 12)
    Path("large").write_bytes(content)
    target = RemotePath("s3://corpus/large.jsonl")
    store.proxy.fault = fails(times, "PUT", "partNumber=2")
    if times > 4:
        with pytest.raises(neardup.TransferError, match="s3://corpus/large.jsonl: writing it failed 4 times"):
            target.upload(Path("large"))
        assert store.keys() == []
    else:
        target.upload(Path("large"))
        assert store.get("large.jsonl") == content
        assert target.read_bytes() == content
    assert store.unfinished() == []


def test_a_shard_that_changes_while_it_is_read_is_detected(run, store):
    store.put("in/a.jsonl", lines(ROWS))
    read = []

    def change(method, path):
        if method == "GET" and "/in/a" in path and not read:
            read.append(path)
            store.put("in/a.jsonl", lines(ROWS).replace(b"ferry", b"FERRY"))  # of the same size

    store.proxy.fault = change
    run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/").refused(
        "s3://corpus/in/a.jsonl changed while it was in use", code=1
    )
    assert store.keys() == ["in/a.jsonl"]


def test_a_shard_that_goes_away_is_told(run, store):
    store.put("in/a.jsonl", lines(ROWS))
    gone = []
    store.proxy.fault = lambda method, path: (
        404 if "/in/a" in path and (method == "GET" or gone) and (gone.append(1) or True) else None
    )
    run("dedup", "s3://corpus/in", "-o", "s3://corpus/out/").refused(
        "s3://corpus/in/a.jsonl cannot be read any more", code=1
    )


def test_a_shard_is_read_in_growing_ranges_and_never_at_once(store, monkeypatch):
    monkeypatch.setattr(remote, "FIRST_READ_BYTES", 16 << 10)
    monkeypatch.setattr(remote, "READ_BYTES", 256 << 10)
    content = lines([{"text": f"{BREAD} {i}"} for i in range(5000)])
    store.put("in.jsonl", content)
    [shard] = neardup_shards("s3://corpus/in.jsonl")
    asked = []
    monkeypatch.setattr(RemotePath, "read_range", noted(RemotePath.read_range, asked))
    with shard.path.open() as file:
        assert file.read(10) == content[:10]
        assert file.seek(100) == 100
        assert file.read(len(content)) == content[100:]
    sizes = [end - start for start, end in asked]
    assert sizes[:3] == [16 << 10, 64 << 10, 256 << 10]
    assert max(sizes) == 256 << 10
    assert sum(sizes) == len(content)
    with shard.path.open() as file:
        file.seek(-10, io.SEEK_END)
        assert file.read() == content[-10:]
    assert shard.path.read_bytes() == content


def noted(method, asked):
    def call(self, start, end):
        asked.append((start, end))
        return method(self, start, end)

    return call


def test_only_the_beginning_of_a_shard_is_fetched_to_look_at_its_columns(store):
    store.put("in.jsonl", lines([{"text": f"{BREAD} {i}"} for i in range(20_000)]))
    corpus = open_corpus("s3://corpus/in.jsonl", Reading())
    store.proxy.requests.clear()
    corpus.check()
    assert [method for method, _ in store.proxy.requests] == ["HEAD", "GET"]


def test_stages_over_a_store_give_what_dedup_gives(run, store):
    put_here_and_there(store, "jsonl")
    s3 = "s3://corpus"
    assert run("dedup", f"{s3}/in", "-o", f"{s3}/once/", "--method", "exact").code == 0
    for name in ("a", "deep/b"):
        assert run("fingerprint", f"{s3}/in/{name}.jsonl", "-o", f"{s3}/prints/{name}.parquet").code == 0
    assert run("pairs", f"{s3}/in", "-o", f"{s3}/pairs/all.parquet", "--method", "exact").code == 0
    run("clusters", f"{s3}/pairs/all.parquet", "--documents", f"{s3}/prints", "-o", f"{s3}/clusters.parquet").ok()
    run("apply", f"{s3}/clusters.parquet", f"{s3}/in", "-o", f"{s3}/staged/").ok()
    assert there(store, "staged/") == there(store, "once/")
    assert store.get("staged.duplicates.jsonl") == store.get("once.duplicates.jsonl")
    run("apply", f"{s3}/missing.parquet", f"{s3}/in", "-o", f"{s3}/more/").refused("there is no such file")


def test_explain_reads_an_audit_and_its_inputs_in_a_store(run, store):
    store.put("in.jsonl", lines(ROWS))
    run("dedup", "s3://corpus/in.jsonl", "-o", "s3://corpus/out.jsonl")
    done = run("explain", "s3://corpus/out.duplicates.jsonl", "edited")
    assert (done.code, b"ferry" in done.out) == (0, True), done.err
    assert run("explain", "s3://corpus/out.duplicates.jsonl", "bread").code == 0


def test_units_are_removed_in_a_store_as_here(run, store):
    rows = [{"id": str(i), "text": f"{FERRY}\n{BREAD} {i}"} for i in range(3)]
    store.put("in/a.jsonl", lines(rows))
    Path("a.jsonl").write_bytes(lines(rows))
    assert run("dedup", "a.jsonl", "--unit", "line", "-o", "out.jsonl").code == 0
    assert run("dedup", "s3://corpus/in/a.jsonl", "--unit", "line", "-o", "s3://corpus/out.jsonl").code == 0
    assert store.get("out.jsonl") == Path("out.jsonl").read_bytes()


def test_a_run_over_remote_inputs_can_be_resumed(run, store):
    put_here_and_there(store, "jsonl")
    arguments = ("dedup", "s3://corpus/in", "-o", "out/", "--resume")
    passes = []
    store.proxy.fault = lambda method, path: (
        503 if method == "GET" and "/in/deep" in path and (passes.append(path) or len(passes) > 2) else None
    )
    assert run(*arguments, leaves_nothing=False).code == 1
    store.proxy.fault = lambda method, path: None
    store.proxy.requests.clear()
    run(*arguments).ok("not read again")
    whole = below("out")
    run("dedup", "in", "-o", "local/")
    assert whole == below("local")
    store.put("in/a.jsonl", lines(ROWS[:2]))
    run(*arguments, "--overwrite").refused("has the work of another run")


@pytest.mark.parametrize("more", [["-o", "s3://corpus/out/"], ["-o", "out/", "--audit", "s3://corpus/why.jsonl"]])
def test_resuming_needs_local_outputs(run, store, more):
    store.put("in.jsonl", lines(ROWS))
    run("dedup", "s3://corpus/in.jsonl", "--resume", *more).refused("Name a local output")


def test_a_reference_may_be_remote(run, store):
    store.put("old/a.jsonl", lines(ROWS[:1]))
    store.put("new/b.jsonl", lines(OTHER_ROWS))
    run("dedup", "s3://corpus/new", "--against", "s3://corpus/old/*", "-o", "out.jsonl").ok()
    assert [row["reference"] for row in read_lines("out.duplicates.jsonl")] == ["s3://corpus/old/a.jsonl"]


def test_preferred_sources_may_be_remote(run, store):
    put_here_and_there(store, "jsonl")
    assert run("dedup", "s3://corpus/in", "--prefer-source", "s3://corpus/in/deep", "-o", "out/").code == 0
    assert [row["survivor_id"] for row in read_lines("out.duplicates.jsonl")][:2] == ["again", "again"]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_a_store_is_decontaminated_as_a_folder_is(run, store, ending):
    put_here_and_there(store, ending)
    item = [{"id": "q", "text": FERRY}]
    Path("items.jsonl").write_bytes(lines(item))
    store.put("items.jsonl", lines(item))
    assert run("decontaminate", "in", "--against", "items.jsonl", "-o", "out/").code == 0
    run("decontaminate", "s3://corpus/in", "--against", "s3://corpus/items.jsonl", "-o", "s3://corpus/out/").ok()
    assert there(store, "out/") == below("out")
    for name in ("out.contaminated.jsonl", "out.items.jsonl"):
        assert store.get(name).replace(b"s3://corpus/", b"") == Path(name).read_bytes()
    here, remote_summary = (
        json.loads(text) for text in (Path("out.summary.json").read_bytes(), store.get("out.summary.json"))
    )
    assert remote_summary["contaminated"] == here["contaminated"] > 0


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_passages_of_a_store_are_cut_as_those_of_a_folder(run, store, ending):
    put_here_and_there(store, ending)
    store.put("ref.jsonl", lines([{"id": "q", "text": FERRY}]))
    Path("ref.jsonl").write_bytes(lines([{"id": "q", "text": FERRY}]))
    options = ("--min-tokens", "8", "--against")
    run("passages", "in", "-o", "out/", *options, "ref.jsonl").ok()
    run("passages", "s3://corpus/in", "-o", "s3://corpus/out/", *options, "s3://corpus/ref.jsonl").ok()
    assert there(store, "out/") == below("out")
    log = Path("out.passages.jsonl").read_bytes()
    assert store.get("out.passages.jsonl").replace(b"s3://corpus/", b"") == log != b""


def test_a_run_in_a_store_is_verified_and_told_wrong(run, store):
    put_here_and_there(store, "jsonl")
    assert run("dedup", "s3://corpus/in", "-o", "s3://corpus/out.jsonl").code == 0
    done = run("verify", "s3://corpus/out.jsonl")
    assert (done.code, b"proven" in done.out) == (0, True), done.err
    whole = store.get("out.jsonl")
    store.put("out.jsonl", whole[: whole.index(b"\n") + 1])
    done = run("verify", "s3://corpus/out.jsonl", "--audit", "s3://corpus/out.duplicates.jsonl").refused(code=1)
    assert b"survivor" in done.out


def test_a_report_is_made_of_a_run_in_a_store_and_put_there(run, store):
    put_here_and_there(store, "jsonl")
    run("dedup", "s3://corpus/in", "-o", "s3://corpus/out.jsonl", "--report", "s3://corpus/during.html").ok()
    run("report", "s3://corpus/out.duplicates.jsonl", "-o", "s3://corpus/after.html").ok("s3://corpus/after.html")
    assert store.get("after.html") == store.get("during.html")
    assert b"night ferry" in store.get("after.html")
    assert run("report", "s3://corpus/out.duplicates.jsonl", "-o", "here.html").code == 0
    assert Path("here.html").read_bytes() == store.get("after.html")
    assert run("report", "s3://corpus/none.duplicates.jsonl", "-o", "none.html").code == 2


def test_an_index_is_made_of_texts_in_a_store_and_answers_go_there(run, store):
    store.put("in.jsonl", lines(ROWS))
    assert run("index", "build", "ix", "s3://corpus/in.jsonl").code == 0
    run("index", "query", "ix", "s3://corpus/in.jsonl", "-o", "s3://corpus/found.jsonl.gz").ok()
    assert run("index", "query", "ix", "s3://corpus/in.jsonl", "-o", "found.jsonl").code == 0
    assert gzip.decompress(store.get("found.jsonl.gz")) == Path("found.jsonl").read_bytes() != b""


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "build", "s3://corpus/ix", "in.jsonl"),
        ("index", "add", "s3://corpus/ix", "in.jsonl"),
        ("index", "query", "s3://corpus/ix", "in.jsonl"),
        ("index", "remove", "s3://corpus/ix", "x"),
        ("index", "info", "s3://corpus/ix"),
        ("filter", "in.jsonl", "--index", "s3://corpus/ix", "-o", "out.jsonl"),
        ("fit", "in.jsonl", "-o", "s3://corpus/frequencies.parquet"),
    ],
)
def test_what_lies_on_this_machine_is_refused_elsewhere(run, store, arguments):
    Path("in.jsonl").write_bytes(lines(ROWS))
    done = run(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert "lies on this machine. Give a path, not a URL" in done.err
    assert not Path("s3:").exists()
    assert store.keys("") == []
