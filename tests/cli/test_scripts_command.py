"""Scripts without spaces on the command line: the advice that is printed works, and what was made by a version goes on by it."""

import json
import random
import shlex

import pyarrow as pa
import pytest
from cli_corpora import write_lines

import neardup as nd
from neardup.text.scripts import ScriptCount

THAI = "ฉัน ชอบ กิน ข้าว ผัด กับ เพื่อน ที่ ร้าน อาหาร ใกล้ บ้าน ทุก วัน เสาร์ ตอน เย็น หลัง เลิก งาน แม่ พ่อ ลูก น้ำ ไฟ รถ เรือ หนังสือ ครู ถนน ตลาด".split()
BETTER = "--recipe all-scripts"


def texts(count=30, *, words=THAI, between="", other="แมว"):
    """Some texts of forty words, each followed by a copy with another word."""
    chance, found = random.Random(1), []
    for _ in range(count):
        some = chance.choices(words, k=40)
        found.append(between.join(some))
        some[chance.randrange(40)] = other
        found.append(between.join(some))
    return found


def write(name="in.jsonl", some=None):
    write_lines(name, [{"id": f"{name} {number}", "text": text} for number, text in enumerate(some or texts())])


def removed(run, *arguments):
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)["duplicates"], done.err


def test_the_option_that_is_printed_runs_and_finds_what_was_missed(run):
    write()
    before, said = removed(run)
    assert before == 0
    assert "100% of the letters are of scripts without spaces between words, such as Thai" in said
    assert said.count(BETTER) == 1
    after, said = removed(run, *shlex.split(BETTER))
    assert after == 30
    assert "without spaces" not in said


@pytest.mark.parametrize(
    "command",
    [("plan", "in.jsonl"), ("evaluate", "in.jsonl"), ("pairs", "in.jsonl", "-o", "p.jsonl"), ("fingerprint", "in.jsonl", "-o", "f.parquet"), ("dedup", "in.jsonl", "-o", "o.jsonl", "--dry-run"), ("split", "in.jsonl", "-o", "s/", "--shares", "a=0.5,b=0.5"), ("leaks", "in.jsonl", "--against", "other.jsonl"), ("passages", "in.jsonl", "-o", "o.jsonl")],
    ids=lambda command: command[0],
)  # fmt: skip
def test_other_commands_give_the_same_advice_once(run, command):
    write()
    write("other.jsonl")
    done = run(*command)
    assert done.code == 0
    assert " ".join((done.out.decode() + done.err).split()).count(BETTER) == 1
    done = run(*command, *(("--overwrite",) if "-o" in command else ()), *shlex.split(BETTER))
    assert done.code == 0
    assert "without spaces" not in done.out.decode() + done.err
    if command[0] == "pairs":
        assert "found    30 pairs" in done.err + done.out.decode()


POINTED = "ذَهَبَ الوَلَدُ إِلى المَدرَسَةِ صَباحًا وَقَرَأَ كِتابًا جَديدًا عَنِ التّاريخِ القَديمِ".split()
EMOJI = list("😀😂🤣😍👍🎉🔥💯🙏🎂🍕🍺⚽🚗")
"""Words, what is between them, the advice on their texts, and the recipe that it names."""
KINDS = {
    "thai": (THAI, "", "without spaces", "all-scripts"),
    "arabic": (POINTED, " ", "Arabic vowel signs", "unmarked"),
    "emoji": (EMOJI, "", "are emoji", "all-scripts"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", ["--index", "--store", "store add"])
def test_a_new_store_or_index_gives_the_advice_once_and_one_made_by_it_none(run, kind, memory):
    words, between, what, better = KINDS[kind]
    write(some=texts(200, words=words, between=between))
    for name, recipe in (("first", "default"), ("second", better)):
        if memory == "store add":
            assert run("store", "create", name, "--recipe", recipe).code == 0
            calls = [("store", "add", name, "in.jsonl"), ("store", "add", name, "in.jsonl", "--give-up")]
        else:
            given = (memory, name, "--create", "--recipe", recipe)
            calls = [("filter", "in.jsonl", "-o", f"{name}{n}.jsonl", *given) for n in range(2)]
        for n, call in enumerate(calls):
            done = run(*call)
            assert done.code == 0, done.err
            is_told = name == "first" and n == 0
            assert done.err.count(what) == is_told
            said = f"make another {'index' if memory == '--index' else 'store'} with the recipe {better}: this one keeps its recipe"
            assert (said in done.err) == is_told


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_advised_finds_what_was_missed(run, kind):
    words, between, what, better = KINDS[kind]
    some = texts(words=words, between=between, other="🚀" if kind == "emoji" else "แมว")
    if kind == "arabic":
        some[1::2] = ["".join(c for c in text if not "\u064b" <= c <= "\u0652") for text in some[::2]]
    write(some=some)
    lower = ("--min-similarity", "0.7")
    before, said = removed(run, *lower)
    assert (before, f"--recipe {better}" in said, what in said) == (0, True, True)
    after, said = removed(run, *lower, "--recipe", better)
    assert (after, what in said) == (30, False)


def test_marks_of_a_recipe_that_removes_them_are_no_reason_for_advice(run):
    write(some=texts(words=POINTED, between=" "))
    for steps, is_told in (('"digits"', True), ('"marks"', False)):
        with open("own.toml", "w", encoding="utf-8") as file:
            file.write(f'normalize = [{steps}, "nfkc_casefold"]\n')
        assert ('give the recipe `normalize = ["marks", …]`' in removed(run, "--recipe", "own.toml")[1]) == is_told


@pytest.mark.parametrize("recipe", ["all-scripts", "all-scripts-64", "unmarked"])
def test_an_index_of_every_named_recipe_takes_a_distance_that_was_measured(run, recipe):
    write()
    done = run("filter", "in.jsonl", "-o", "out.jsonl", "--index", "i", "--create", "--recipe", recipe)
    assert done.code == 0, done.err
    assert "where this was measured" in done.err


def test_a_benchmark_without_spaces_is_found_by_the_recipe_of_the_advice(run):
    write("items.jsonl", texts(5))
    write(some=[f"แมว{text}แมว" for text in texts(5)])
    flags = ("decontaminate", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--against", "items.jsonl", "--json")
    done = run(*flags)
    assert json.loads(done.out)["contaminated"] == 0
    assert "To compare characters instead, give --recipe all-scripts" in done.err
    done = run(*flags, "--recipe", "all-scripts")
    found = json.loads(done.out)
    assert (found["contaminated"], found["options"]["version"], "scripts" in done.err) == (10, 2, False)
    assert "version" not in json.loads(run(*flags).out)["options"]
    refused = run(*flags, "--recipe", "unmarked")
    assert (refused.code, "--recipe unmarked: give 'default' or 'all-scripts'" in refused.err) == (2, True)


def test_a_benchmark_without_spaces_is_told_to_be_hardly_searched(run):
    write("items.jsonl", texts(5))
    write(some=["the old ferry leaves the harbor at ten past nine"])
    flags = ("decontaminate", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--against", "items.jsonl")
    assert run(*flags).err.count("such as Thai, so a whole phrase counts as one word. Few items are checked then") == 1
    write("items.jsonl", texts(5, between=" "))
    write(some=[text + " and more" for text in texts(5, between=" ")])
    done = run(*flags, "--json")
    assert json.loads(done.out)["contaminated"] == 10


@pytest.mark.parametrize(
    ("some", "flags"),
    [
        (["été à la pêche, où l'élève répète: «Noël»"], ()),
        (["हिन्दी में लिखी हुई किताब"], ()),
        (texts(words=["red", "boat", "harbor", "winter", "island"], between=" "), ()),
        (["法律第一条" * 20, "ひらがな" * 20], ()),
        ([*["the old ferry leaves the harbor at ten past nine in winter"] * 30, "ไทย"], ()),
        (texts(), ("--similarity", "jaccard(segmenter=characters, word_shingle=5)")),
        (texts(), ("--similarity", "jaccard(version=2)")),
        (texts(), ("--recipe", "unmarked")),
        ([""], ()),
    ],
    ids=["french", "hindi", "english", "chinese", "few", "characters", "version", "unmarked", "empty"],
)
def test_there_is_no_advice_where_it_would_not_help(run, some, flags):
    write(some=some)
    assert "To compare" not in removed(run, *flags)[1]


def test_a_recipe_of_ones_own_is_told_its_field(run):
    write()
    for name, version in (("first", ""), ("second", "version = 2\n")):
        with open(f"{name}.toml", "w", encoding="utf-8") as file:
            file.write('normalize = ["digits", "nfkc_casefold"]\n' + version)
    count, said = removed(run, "--recipe", "first.toml")
    assert (count, "give the recipe `version = 2`" in said) == (0, True)
    assert removed(run, "--recipe", "second.toml")[0] == 30
    assert "--recipe all-scripts-64" in removed(run, "--recipe", "default-64", "--method", "exact")[1]


def test_a_sample_is_looked_at_wherever_the_texts_lie():
    recipe = nd.Recipe()
    for some in (["word"] * 500 + ["ไทย"] * 500, ["ไทย" * 10_000, *["word"] * 3]):
        count = ScriptCount()
        count.look(pa.array(some, pa.large_string()))
        assert "Thai" in count.advice(recipe)
    assert ScriptCount().advice(recipe) is None
    assert ScriptCount.wanted(nd.Recipe(segmenter="characters"), "jaccard") is None


def test_a_store_of_version_2_is_refused_by_a_recipe_of_version_1_and_goes_on_without_one(run):
    write("in.jsonl", texts()[:20])
    write("more.jsonl", texts()[20:40])
    assert run("filter", "in.jsonl", "-o", "a.jsonl", "--store", "s", "--create", "--recipe", "all-scripts").code == 0
    refused = run("filter", "more.jsonl", "-o", "b.jsonl", "--store", "s", "--recipe", "default")
    assert refused.code == 2
    assert "version: 2 there, 1 here" in " ".join(refused.err.split())
    done = run("filter", "more.jsonl", "-o", "b.jsonl", "--store", "s", "--similarity", "jaccard(version=2)")
    assert done.code == 0, done.err
    with open("b.jsonl", encoding="utf-8") as file:
        assert len(file.readlines()) == 10
    with nd.Store("s") as store:
        assert (store.recipe.version, len(store)) == (2, 20)
    first = run("store", "create", "t")
    assert first.code == 0
    for wrong in (("--recipe", "all-scripts"), ("--similarity", "jaccard(version=2)")):
        refused = run("filter", "more.jsonl", "-o", "c.jsonl", "--store", "t", *wrong)
        assert refused.code == 2, wrong


def test_a_store_that_is_made_by_a_similarity_of_version_2_has_a_recipe_of_version_2(run):
    with nd.Store("s", similarity="jaccard(version=2)") as store:
        assert store.recipe.version == 2
        answers = store.check_and_add_many(range(20), texts()[:20])
    assert [answer.is_new for answer in answers] == [True, False] * 10
    with nd.Store("s", similarity="jaccard") as store:
        assert not store.check(texts()[0]).is_new
    with pytest.raises(nd.OptionError, match="version 2 and `recipe` of version 1"):
        nd.Store("t", similarity="jaccard(version=2)", recipe="default")


def test_a_run_is_not_resumed_by_another_version(run):
    write()
    flags = ("dedup", "in.jsonl", "-o", "out.jsonl", "--resume")
    assert run(*flags, "--recipe", "all-scripts").code == 0
    refused = run(*flags)
    assert refused.code == 2
    assert "version" in refused.err
    assert run(*flags, "--recipe", "all-scripts").code == 0


def test_stages_of_two_versions_are_refused(run):
    write()
    assert run("fingerprint", "in.jsonl", "-o", "two.parquet", "--recipe", "all-scripts").code == 0
    assert run("fingerprint", "in.jsonl", "-o", "one.parquet").code == 0
    refused = run("pairs", "two.parquet", "--against", "one.parquet", "-o", "p.jsonl")
    assert refused.code == 2
    assert "version: 2 there, 1 here" in " ".join(refused.err.split()) or "version: 1 there, 2 here" in " ".join(
        refused.err.split()
    )
    assert run("pairs", "in.jsonl", "-o", "p.parquet", "--recipe", "all-scripts").code == 0
    refused = run("clusters", "p.parquet", "--documents", "one.parquet", "-o", "c.parquet")
    assert refused.code == 2
    assert run("clusters", "p.parquet", "--documents", "two.parquet", "-o", "c.parquet").code == 0


def test_explanations_and_proofs_of_a_run_have_its_version(run):
    write()
    count, _ = removed(run, "--recipe", "all-scripts")
    assert count == 30
    told = run("explain", "out.duplicates.jsonl", "in.jsonl 1")
    assert told.code == 0, told.err
    assert "similarity 0.86" in " ".join((told.out.decode() + told.err).split())
    assert run("verify", "out.jsonl").code == 0
    page = run("report", "out.duplicates.jsonl", "-o", "page.html")
    assert page.code == 0, page.err


@pytest.mark.parametrize("reference", ["reference.jsonl", "s"])
def test_a_reference_of_files_or_of_a_store_is_compared_in_version_2(run, reference):
    some = texts()
    write("reference.jsonl", some[::2])
    write("in.jsonl", [*some[1::2], "one two three four five six seven eight"])
    with nd.Store("s", recipe="all-scripts") as store:
        store.check_and_add_many(range(30), some[::2])
    assert removed(run, "--against", reference, "--recipe", "all-scripts")[0] == 30
    assert removed(run, "--against", reference, "--similarity", "jaccard(version=2)")[0] == 30
    if reference == "s":
        refused = run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--against", "s", "--recipe", "default")
        assert refused.code == 2
        assert "version" in refused.err


def test_lines_and_columns_are_compared_in_version_2(run):
    some = texts()
    write_lines("in.jsonl", [{"id": n, "text": text, "host": n // 2 % 2} for n, text in enumerate(some)])
    assert removed(run, "--within", "host", "--recipe", "all-scripts")[0] == 30
    write_lines("in.jsonl", [{"id": 1, "text": "\n".join([*some[:4], some[0].replace("แมว", "\u200bแมว")])}])
    done = run(
        "dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--unit", "line", "--recipe", "all-scripts", "--json"
    )
    assert done.code == 0, done.err
