"""The database goes away and comes back, crashes, is restored or fails over: nothing is lost, nothing is twice, and what is lost there is told."""

import contextlib
import itertools
import logging
import shutil
import signal
import subprocess
import time

import pytest
from sizes import set_sizes
from streams import decisions, duplicates, near_copies, streamed

import neardup as nd
import postgres_server
from forked import ended, forked
from neardup.store.postgresql import following, log, refusals, shared_files, upkeep
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.problems import LostError, UnknownOutcomeError, translated_errors
from neardup.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
TEXTS = list(near_copies(60, 3))
LATER = time.time() + 86_400  # more than any run of the tests takes
ENDS_ITSELF = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
def impatient(monkeypatch):
    set_sizes(monkeypatch, patience=0.15)


def expected_of(texts, tmp_path):
    with Store(tmp_path / "alone") as alone:
        return alone.check_and_add_many(range(len(texts)), texts), alone.check_many(texts)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_that_comes_back_is_used_again(own_server, tmp_path, impatient, how):
    place, (answers, checks) = own_server.place("s"), expected_of(TEXTS, tmp_path)
    with Store(place) as one, Store(place) as other:
        assert one.check_and_add_many(range(20), TEXTS[:20]) == answers[:20]
        own_server.stop(how)
        for call in (lambda: one.check_and_add("x", TEXTS[20]), lambda: other.check(TEXTS[0]), lambda: one.remove([0])):
            with pytest.raises(nd.TransferError, match="reaching the database failed"):
                call()
        own_server.start()
        assert one.check_and_add_many(range(20, 40), TEXTS[20:40]) == answers[20:40]
        assert other.check_and_add_many(range(40, 60), TEXTS[40:]) == answers[40:]
        assert one.check_many(TEXTS) == other.check_many(TEXTS) == checks
    assert own_server.execute("SELECT position FROM s.stores") == [(3,)]


def test_whether_a_database_is_there_is_asked_once(own_server, monkeypatch):
    with Store(own_server.place("s"), wait=600) as store:
        store.ping()
        own_server.stop()
        for _ in range(2):
            with pytest.raises(nd.TransferError, match="reaching the database failed 1 time"):
                store.ping()
        own_server.start()
        store.ping()
        own_server.execute("DELETE FROM s.stores")
        with pytest.raises(nd.InputError, match="is no store any more"):
            store.ping()


def test_questions_are_answered_within_the_staleness(own_server, impatient):
    place = own_server.place("s", staleness="10m")
    with Store(own_server.place("s")) as writer, Store(place) as stale:
        writer.check_and_add_many(range(20), TEXTS[:20])
        assert len(stale) == 0
        stale.check_and_add("x", "To decide, it catches up, whatever was asked for.")
        assert len(stale) == len(writer)
        own_server.stop()
        assert stale.check(TEXTS[0]).exact
        with pytest.raises(nd.TransferError):
            stale.check_and_add("y", TEXTS[1])
        with pytest.raises(nd.TransferError):
            writer.check(TEXTS[0])


@pytest.mark.parametrize(
    "moment", ["before the lock", "while deciding", "before the commit", "after the commit", "while looking"]
)
def test_a_session_that_ends_is_made_up_for(server, place, tmp_path, monkeypatch, moment):
    answers, checks = expected_of(TEXTS, tmp_path)
    calls, commit, begin, head = itertools.count(), shared_files.commit, log.Log.begin_deciding, log.Log.head

    def once(action):
        if next(calls) == 0:
            action()

    def ending_commit(session):
        if moment == "before the commit":
            once(lambda: session.execute(ENDS_ITSELF))
        commit(session)
        if moment == "after the commit":
            once(lambda: session.execute(ENDS_ITSELF))

    def ending_begin(self, session, *known):
        once(lambda: session.execute(ENDS_ITSELF))
        return begin(self, session, *known)

    def ending_head(self, session):
        once(lambda: session.execute(ENDS_ITSELF))
        return head(self, session)

    def state(answers):
        if moment == "while deciding":
            once(
                lambda: server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'neardup'"
                )
            )
        return len(answers)

    def notes(answers):
        asked.append(len(answers))
        return {"k": (len(asked), LATER)}

    is_repeated, asked = moment != "while deciding", []
    with Store(place) as one, Store(place) as other:
        one.check_and_add_many(range(10), TEXTS[:10])
        if "commit" in moment:
            monkeypatch.setattr(shared_files, "commit", ending_commit)
        elif moment == "before the lock":
            monkeypatch.setattr(log.Log, "begin_deciding", ending_begin)
        elif moment == "while looking":
            monkeypatch.setattr(log.Log, "head", ending_head)
        if not is_repeated:  # what a function has done is not done again
            with pytest.raises(nd.TransferError, match=r"writing what was decided \(nothing of it was added\) failed"):
                one.check_and_add_many(range(10, 60), TEXTS[10:], state=state)
            assert len(other) == len(one) == sum(answer.is_new for answer in answers[:10])
        found = one.check_and_add_many(range(10, 60), TEXTS[10:], state=50, notes=notes, unless=["k"])
        assert (found, asked) == (answers[10:], [50] * (2 if moment == "before the commit" else 1))
        assert other.notes(["k"]) == {"k": len(asked)}
        if moment == "while looking":
            assert one.check_many(TEXTS) == checks
        assert next(calls) >= 1
        assert one.check_many(TEXTS) == other.check_many(TEXTS) == checks
        assert one.verify().is_sound
        assert other.state == 50
    schema = place.partition("schema=")[2].partition("&")[0]
    assert server.execute(f"SELECT position FROM {schema}.stores") == [(2,)]


@pytest.mark.parametrize("arrives", [True, False])
def test_an_unknown_outcome_is_told_and_found_out(place, tmp_path, monkeypatch, impatient, arrives):
    answers, checks = expected_of(TEXTS, tmp_path)
    with Store(place) as one, Store(place) as other:
        one.check_and_add_many(range(10), TEXTS[:10])
        with monkeypatch.context() as patch:

            def lost(self, work):
                raise LostError("a test")

            def commit(session):
                session.execute("COMMIT" if arrives else "ROLLBACK")
                session.execute(ENDS_ITSELF)
                patch.setattr(Database, "once", lost)

            patch.setattr(shared_files, "commit", commit)
            with pytest.raises(UnknownOutcomeError, match="was lost while a change was being written"):
                one.check_and_add_many(range(10, 60), TEXTS[10:], notes=lambda _: {"k": (1, LATER)})
        assert one.notes(["k"]) == ({"k": 1} if arrives else {})
        found = one.check_and_add_many(range(10, 60), TEXTS[10:])
        if arrives:  # each document is a copy of what was kept of it
            assert [answer.is_new for answer in found] == [False] * 50
            known = [answer.duplicate_of for answer in found]
            wanted = [number if answer.is_new else answer.duplicate_of for number, answer in enumerate(answers)]
            assert known == wanted[10:]
        else:
            assert found == answers[10:]
        assert one.check_many(TEXTS) == other.check_many(TEXTS) == checks


@pytest.mark.parametrize("how", ["written", "compacted"])
def test_what_has_arrived_is_found_after_a_compaction(place, tmp_path, monkeypatch, how):
    answers, checks = expected_of(TEXTS, tmp_path)
    with Store(place) as one, Store(place) as other:
        one.check_and_add_many([*range(10), "gone"], [*TEXTS[:10], "a text that is removed again, and like no other"])
        one.remove(["gone"])
        calls, commit = itertools.count(), upkeep.commit if how == "compacted" else shared_files.commit

        def ending(session):
            commit(session)
            if next(calls) == 0:
                if how == "written":
                    assert other.compact()
                session.execute(ENDS_ITSELF)

        monkeypatch.setattr(upkeep if how == "compacted" else shared_files, "commit", ending)
        if how == "compacted":
            assert one.compact()
        assert one.check_and_add_many(range(10, 60), TEXTS[10:]) == answers[10:]
        assert next(calls) >= 1
        assert one.check_many(TEXTS) == other.check_many(TEXTS) == checks
        assert one.verify().is_sound


def test_what_cannot_be_learned_for_a_lock_is_an_unknown_outcome(server, place, schema, monkeypatch):
    import psycopg

    set_sizes(monkeypatch, lock_seconds=1)
    with Store(place) as store, psycopg.connect(server.url()) as hanging:
        identity = server.execute(f"SELECT id FROM {schema}.stores")[0][0]

        def commit(session):
            session.execute("COMMIT")
            hanging.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"neardup store {identity}",))
            session.execute(ENDS_ITSELF)

        with monkeypatch.context() as patch:
            patch.setattr(shared_files, "commit", commit)
            with pytest.raises(
                UnknownOutcomeError, match=r"whether it has arrived, at last with: .*Another service has decided"
            ):
                store.check_and_add("a", TEXTS[0])
        hanging.rollback()
        assert store.check_and_add("a", TEXTS[0]).duplicate_of == "a"


def test_a_crash_under_load_loses_nothing_that_was_acknowledged(own_server, tmp_path):
    place, texts = own_server.place("s"), list(near_copies(300, 8))
    Store(place).close()

    def work(number):
        with Store(place, wait=20) as store, (tmp_path / str(number)).open("w") as said:
            for row in range(number, 300, 3):
                while True:
                    with contextlib.suppress(UnknownOutcomeError):
                        store.check_and_add(row, texts[row])
                        break
                said.write(f"{row}\n")
                said.flush()

    children = [forked(work, number) for number in range(3)]
    for _ in range(3):
        while sum(len(path.read_text()) for path in tmp_path.glob("[0-9]")) < 100:
            pass
        own_server.stop(signal.SIGQUIT)
        own_server.start()
    assert [ended(child) for child in children] == [0, 0, 0]
    with Store(place) as store:
        assert all(not answer.is_new for answer in store.check_many(texts))
        assert store.verify().is_sound
        kept = [row for row in range(300) if store.get(row)]
    order = [row for (row,) in own_server.execute("SELECT id::int FROM s.documents ORDER BY number")]
    assert sorted(order) == kept


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_database_that_has_gone_back_is_refused(own_server, cache, goes_on):
    place = own_server.place("s")
    with Store(place) as ahead, Store(f"{place}&replica={cache / 'behind'}") as behind:
        ahead.check_and_add_many(range(20), TEXTS[:20])
        len(behind)
        own_server.stop()
        shutil.copytree(own_server.data, cache / "older", symlinks=True)
        own_server.start()
        ahead.check_and_add_many(range(20, 30), TEXTS[20:30])
        ahead.check_and_add_many(range(30, 40), TEXTS[30:40])
        own_server.stop()
        _put_back(own_server, cache / "older")
        own_server.start()
        if goes_on:  # the log gets as long again, and longer
            for row in range(40, 50):
                behind.check_and_add(row, TEXTS[row])
        for call in (lambda: ahead.check(TEXTS[0]), lambda: ahead.check_and_add("x", TEXTS[0])):
            with pytest.raises(nd.InputError, match="has gone back to an older state") as caught:
                call()
        assert str(ahead.path) in str(caught.value)
        with Store(ahead.path, mode="r") as replica:  # what was lost is there
            assert replica.check(TEXTS[25]).matches
    with pytest.raises(nd.InputError, match="has gone back"):
        Store(place)
    shutil.rmtree(ahead.path)
    with Store(place) as anew, Store(f"{place}&replica={cache / 'behind'}") as behind:
        assert anew.check_many(TEXTS) == behind.check_many(TEXTS)
        assert anew.check_and_add("new", "A text that only comes after all of that, of a few words.").is_new


def _put_back(server, older):
    """Let a server have the data of an older copy."""
    shutil.rmtree(server.data)
    subprocess.run(["cp", "-a", str(older), str(server.data)], check=True)
    subprocess.run(["chown", "-R", "--reference", str(server.folder), str(server.data)], check=True)


def test_a_stand_by_takes_over_and_one_that_lags_is_refused(own_server, tmp_path, monkeypatch):
    standby = postgres_server.Server(based_on=own_server)
    try:
        standby.start()
        place = f"postgresql://neardup@/postgres?host={own_server.folder},{standby.folder}&schema=s"
        both = f"{place}&target_session_attrs=read-write"
        with Store(both) as one, Store(f"{both}&replica={tmp_path / 'late'}") as late:
            one.check_and_add_many(range(20), TEXTS[:20])
            assert len(late) == len(one)
            standby.wait_for(own_server)
            with Store(standby.place("s"), mode="r") as reader:
                assert len(reader) == len(one)
            with Store(standby.place("s")) as refused, pytest.raises(nd.InputError, match="It is a stand-by"):
                refused.check_and_add("x", TEXTS[0])
            standby.stop()
            one.check_and_add_many(range(20, 40), TEXTS[20:40])  # which the stand-by never gets
            own_server.stop(signal.SIGQUIT)
            standby.start()
            standby.execute("SELECT pg_promote()")
            with pytest.raises(nd.InputError, match="has gone back"):
                one.check(TEXTS[0])
            answers = late.check_and_add_many(range(20, 60), TEXTS[20:])
        assert duplicates(range(20, 60), answers) == {row: told for row, told in decisions(TEXTS).items() if row >= 20}
    finally:
        standby.remove()


def test_a_stand_by_that_lags_is_not_taken_for_a_database_that_has_gone_back(own_server):
    standby = postgres_server.Server(based_on=own_server)
    try:
        standby.start()
        with Store(own_server.place("s")) as writer:
            writer.check_and_add_many(range(20), TEXTS[:20])
            standby.wait_for(own_server)
            standby.execute("SELECT pg_wal_replay_pause()")
            writer.check_and_add_many(range(20, 40), TEXTS[20:40])
            known = len(writer)
        hosts = f"postgresql://neardup@/postgres?host={own_server.folder},{standby.folder}&schema=s"
        asked = {
            standby.place(
                "s"
            ): f"postgresql://neardup@/postgres?host={standby.folder}&schema=s&store=default is a stand-by",
            f"{hosts}&target_session_attrs=standby": f"(asked: {standby.folder}:5432) is a stand-by that lags",
        }
        for place, words in asked.items():  # both with the replica of the writer
            with pytest.raises(nd.TransferError) as told:
                Store(place, mode="r")
            assert words in str(told.value)
            assert "it has the changes up to 1 (replayed up to 0/" in str(told.value)
            assert "this service knows 2 from before" in str(told.value)
        standby.execute("SELECT pg_wal_replay_resume()")
        standby.wait_for(own_server)
        for place in asked:
            with Store(place, mode="r") as reader:
                assert len(reader) == known
    finally:
        standby.remove()


REFUSED = {
    "a role that does not exist": ({"user": "nobody"}, "", 'role "nobody" does not exist'),
    "a database that does not exist": ({"database": "none"}, "", 'database "none" does not exist'),
    "a role that may not log in": ({"user": "closed"}, "CREATE ROLE closed", "is not permitted to log in"),
    "a database that is closed to the role": (
        {"user": "plain", "database": "shut"},
        "CREATE DATABASE shut; CREATE ROLE plain LOGIN; REVOKE CONNECT ON DATABASE shut FROM PUBLIC",
        "permission denied for database",
    ),
    "a wrong password": ({"user": "hidden:wrong"}, "", "password authentication failed"),
    "no password": ({"user": "hidden"}, "", "no password supplied"),
    "a server that rejects": ({"user": "unwanted"}, "", "pg_hba.conf rejects connection"),
}


def closed(own_server, before):
    """Let some roles of a server in by a password, or not at all."""
    rules = own_server.data / "pg_hba.conf"
    rules.write_text("local all hidden scram-sha-256\nlocal all unwanted reject\n" + rules.read_text())
    own_server.execute("CREATE ROLE hidden LOGIN PASSWORD 'right'")
    for statement in filter(None, before.split("; ")):
        own_server.execute(statement)
    own_server.stop()
    own_server.start()


@pytest.mark.parametrize("case", REFUSED)
def test_a_server_that_lets_nobody_in_is_asked_once(own_server, monkeypatch, capfd, case):
    import psycopg

    who, before, words = REFUSED[case]
    closed(own_server, before)
    connect, asked = psycopg.connect, []
    monkeypatch.setattr(psycopg, "connect", lambda *given, **how: asked.append(given) or connect(*given, **how))
    with pytest.raises(nd.InputError, match=words) as told:
        Store(own_server.url(**who))
    assert len(asked) == 1
    assert "\n" not in str(told.value)
    assert str(told.value).count(words) == 1
    assert capfd.readouterr().err == ""


@pytest.fixture
def german_server(tmp_path_factory, monkeypatch):
    """A server that says everything in German, if the system has what that needs."""
    folder = tmp_path_factory.mktemp("locales")
    made = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")]
    if shutil.which("localedef") is None or subprocess.run(made, check=False, capture_output=True).returncode:
        pytest.skip("needs localedef, and the locale de_DE")
    for each in (folder, *folder.parents[:-2]):
        each.chmod(0o755)
    monkeypatch.setenv("LOCPATH", str(folder))
    server = postgres_server.Server("lc_messages=de_DE.UTF-8")
    try:
        server.start()
        with pytest.raises(Exception, match="syntax error|Syntaxfehler") as told:
            server.execute("SELEKT")
        if "Syntaxfehler" not in str(told.value):
            pytest.skip("needs the German messages of PostgreSQL")
        yield server
    finally:
        server.remove()


@pytest.mark.parametrize("case", REFUSED)
def test_a_server_that_refuses_in_another_language_is_understood(german_server, monkeypatch, case):
    import psycopg

    if psycopg.pq.version() < 180_000:
        pytest.skip("needs libpq 18")
    who, before, words = REFUSED[case]
    closed(german_server, before)
    connect, asked = psycopg.connect, []
    monkeypatch.setattr(psycopg, "connect", lambda *given, **how: asked.append(given) or connect(*given, **how))
    with pytest.raises(nd.InputError) as told:
        Store(german_server.url(**who))
    assert len(asked) == 1
    assert case == "no password" or words not in str(told.value)


def test_the_words_of_a_server_are_understood_where_libpq_tells_no_sqlstate(own_server, monkeypatch):
    monkeypatch.setattr(refusals, "_states", lambda *_: iter([""]))
    with pytest.raises(nd.InputError, match='database "none" does not exist. Create the database, or name another'):
        Store(own_server.url(database="none"))


@pytest.mark.parametrize("state", ["57P03", "53300"])
def test_a_server_that_is_full_or_starting_is_asked_again(own_server, impatient, monkeypatch, state):
    monkeypatch.setattr(refusals, "_states", lambda *_: iter([state]))
    with pytest.raises(nd.TransferError, match="reaching the database failed"):
        Store(own_server.url(database="none"))


def test_a_host_that_refuses_beside_one_that_is_away_is_asked_again(own_server, impatient, monkeypatch):
    away = f"postgresql://nobody@/postgres?host={own_server.folder}-away,{own_server.folder}"
    with pytest.raises(nd.TransferError, match="reaching the database failed"):
        Store(away)
    with pytest.raises(nd.InputError, match="Give the user and the password"):  # where both refuse
        Store(f"postgresql://nobody@/postgres?host={own_server.folder},{own_server.folder}")


def test_what_psycopg_ignores_does_not_reach_standard_error(own_server, capfd, impatient, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a program that sets up no logging
    with Store(own_server.place("s")) as store:
        own_server.stop(signal.SIGQUIT)
        with pytest.raises(nd.TransferError):
            store.check_and_add("x", TEXTS[0])
    assert capfd.readouterr().err == ""


def test_a_lock_that_nobody_gives_back_is_told(server, place, schema, monkeypatch):
    import psycopg

    set_sizes(monkeypatch, lock_seconds=1)
    with Store(place) as store, psycopg.connect(server.url()) as hanging:
        identity = server.execute(f"SELECT id FROM {schema}.stores")[0][0]
        hanging.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"neardup store {identity}",))
        with pytest.raises(nd.InputError, match="Another service has decided for"):
            store.check_and_add("a", TEXTS[0])
        assert store.check(TEXTS[0]).is_new
        hanging.rollback()
        assert store.check_and_add("a", TEXTS[0]).is_new


def test_another_program_that_writes_is_found_out(server, place, schema):
    with Store(place) as store:
        store.check_and_add("a", TEXTS[0])
        rows = server.execute(f"SELECT rows FROM {schema}.stores")[0][0]
        server.execute(f"INSERT INTO {schema}.changes VALUES (%s, 2, 'x', 0)", (rows,))
        with pytest.raises(nd.InputError, match="Another program writes to the tables"):
            store.check_and_add("b", TEXTS[1])
        server.execute(f"DELETE FROM {schema}.changes WHERE position = 2")
        assert streamed(store, TEXTS[1:20], 5, 1) is not None


def test_a_store_that_was_dropped_or_made_anew_is_told(server, place, schema):
    with Store(place) as store:
        store.check_and_add("a", TEXTS[0])
        server.execute(f"DELETE FROM {schema}.stores")
        with pytest.raises(nd.InputError, match="is no store any more"):
            store.check(TEXTS[0])
        with Store(place) as anew:
            assert anew.check(TEXTS[0]).is_new
            with pytest.raises(nd.InputError, match="it was made anew. Open it again"):
                store.check(TEXTS[0])
            with pytest.raises(nd.InputError, match="it was made anew. Open it again"):
                store.check_and_add("b", TEXTS[0])


def test_what_libpq_asks_is_left_out_of_what_it_says():
    psycopg = pytest.importorskip("psycopg")
    libpq = 'connection failed: to server at "::1" failed: refused\n\tIs the server running on that host?\nto "127.0.0.1": refused\n\tIs the server running on that host?\n'
    with pytest.raises(LostError) as lost, translated_errors("postgresql://db/pages"):
        raise psycopg.OperationalError(libpq)
    assert str(lost.value) == 'connection failed: to server at "::1" failed: refused to "127.0.0.1": refused'


def test_a_replica_that_could_not_be_made_anew_is_made_by_the_next_call(place, monkeypatch):
    with Store(place) as one, Store(place) as other:
        one.check_and_add_many(range(10), TEXTS[:10])
        one.remove(range(5))
        other.check(TEXTS[0])
        assert one.compact()

        def away(*_, **__):
            raise nd.TransferError("a place", "reaching the database", 1, "a test")

        with monkeypatch.context() as patch:
            patch.setattr(following, "shared_facts", away)
            with pytest.raises(nd.TransferError, match="a test"):
                other.check(TEXTS[0])
        assert other.check_many(TEXTS) == one.check_many(TEXTS)
        assert other.verify().is_sound
