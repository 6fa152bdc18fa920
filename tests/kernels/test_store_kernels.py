"""The kernels of stores against plain definitions: checksums, orders of elements, prefixes, and postings in tables and segments."""

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.kernels.matching.bitmaps import fill_bitmaps
from neardup.kernels.matching.similarities import CODES, prefix_length, required_overlap
from neardup.kernels.store import band_keys, postings, prefixes, rows
from neardup.kernels.store.postings import ANY, DAMAGED, MIX, Chains, Entries, Keys, Room, Sorted
from neardup.kernels.store.prefixes import Order, Ordered, keys_of_texts

WORD = (1 << 64) - 1
WORDS = st.integers(0, WORD)
KINDS = (np.uint64, np.int64, np.uint32, np.uint32)


def arrays(columns, kinds):
    return [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]


def naive_checksum(words):
    a, b = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
    return sum((word + (i + 1) * a) * (b + 2 * i) for i, word in enumerate(words)) & WORD


@given(st.lists(st.lists(WORDS, max_size=9), max_size=9), st.integers(0, 8))
def test_checksums_and_gathering(runs, broken):
    words = np.array([word for run in runs for word in run], np.uint64)
    offsets = np.cumsum([0, *map(len, runs)])
    sums, out = np.empty(len(runs), np.uint64), np.empty(len(words), np.uint64)
    rows.fill_checksums(words, offsets, sums)
    assert sums.tolist() == [naive_checksum(run) for run in runs]
    assert rows.gather(words, offsets[:-1].copy(), sums, offsets, out) == -1
    assert out.tolist() == words.tolist()
    if broken < len(runs):
        sums[broken] ^= np.uint64(1)
        assert rows.gather(words, offsets[:-1].copy(), sums, offsets, out) == broken


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 5), st.integers(0, 2))
def test_a_row_that_changed_is_found(values, row, column):
    made = np.array([[*words, 0] for words in values], np.uint64)
    rows.seal_rows(made, 7)
    assert made[:, -1].tolist() == [naive_checksum([*words, 7 + place]) for place, words in enumerate(values)]
    sealed = np.concatenate([np.zeros((7, 4), np.uint64), made])
    every, changed = np.arange(7, 7 + len(made)), 7 + row % len(made)
    assert rows.damaged_row(sealed, every) == -1
    sealed[changed, column] ^= np.uint64(1 << 40)
    assert rows.damaged_row(sealed, every) == changed
    assert rows.damaged_row(sealed, np.array([len(sealed)])) == len(sealed)


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=2, max_size=6), st.data())
def test_rows_at_other_places_are_found(values, data):
    sealed = np.array([[*words, 0] for words in values], np.uint64)
    rows.seal_rows(sealed, 0)
    left, right = data.draw(st.permutations(range(len(values))))[:2]
    sealed[[left, right]] = sealed[[right, left]]
    assert rows.damaged_row(sealed, np.arange(len(sealed))) == min(left, right)


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=5, max_size=5), min_size=1, max_size=6), st.data())
def test_a_signature_that_changed_is_found(values, data):
    signatures = np.array(values, np.uint32)
    sums, numbers = np.empty(len(values), np.uint64), np.array(data.draw(st.permutations(range(len(values)))))
    rows.fill_signature_checksums(signatures, sums)
    assert sums.tolist() == [naive_checksum(each) for each in values]
    out = np.empty_like(signatures)
    assert rows.gather_signatures(signatures, numbers, sums[numbers], out) == -1
    assert out.tolist() == signatures[numbers].tolist()
    place = data.draw(st.integers(0, len(values) - 1))
    signatures[numbers[place], data.draw(st.integers(0, 4))] ^= np.uint32(1 << data.draw(st.integers(0, 31)))
    assert rows.gather_signatures(signatures, numbers, sums[numbers], out) == place


@given(
    st.lists(st.sets(WORDS, max_size=20), min_size=2, max_size=8),
    st.sampled_from(["jaccard", "containment", "edit"]),
    st.floats(0.05, 1.0) | st.sampled_from([0.5, 0.8, 1.0]),
    st.sampled_from([1, 2, 8]),
)
def test_rows_are_sieved_by_the_bits_that_differ(sets, kind, threshold, words):
    values = np.array([element for each in sets for element in sorted(each)], np.uint64)
    offsets, sizes = np.cumsum([0, *map(len, sets)]), np.array([len(each) for each in sets])
    maps = np.zeros((len(sets), words), np.uint64)
    fill_bitmaps(values, offsets, np.arange(0, maps.size + 1, words), maps.reshape(-1))
    sealed = np.zeros((len(sets), words + 3), np.uint64)
    sealed[:, 1], sealed[:, 2:-1] = sizes, maps
    rows.seal_rows(sealed, 0)
    numbers, places = (part.ravel() for part in np.indices((len(sets), len(sets))))
    asked, found = rows.Sieved(sizes, maps), np.zeros(len(numbers), np.bool_)
    assert rows.sieve_rows(sealed, (1, 2), numbers, places, asked, CODES[kind], threshold, found) == -1
    bits = [{(value * int(MIX) % 2**64 >> 40) % (64 * words) for value in each} for each in sets]
    for i, j, told in zip(numbers.tolist(), places.tolist(), found.tolist(), strict=True):
        needed = required_overlap(CODES[kind], len(sets[i]), len(sets[j]), threshold)
        apart = len(bits[i] ^ bits[j])
        assert told == (needed <= min(len(sets[i]), len(sets[j])) and apart <= len(sets[i]) + len(sets[j]) - 2 * needed)
        common = len(sets[i] & sets[j])
        assert (
            told or not common or not naive.could_reach(kind, *sorted((len(sets[i]), len(sets[j]))), common, threshold)
        )
    sealed[1, 1] += 1
    assert rows.sieve_rows(sealed, (1, 2), numbers, places, asked, CODES[kind], threshold, found) == 1
    missing = np.array([len(sealed)])
    assert rows.sieve_rows(sealed, (1, 2), missing, places[:1], asked, CODES[kind], threshold, found) == len(sealed)


@given(
    st.lists(st.sets(st.integers(0, 200), max_size=20), min_size=1, max_size=20),
    st.sampled_from(["jaccard", "containment", "edit"]),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    st.integers(1, 3),
)
def test_all_pairs_meet_that_the_sieve_lets_through(sets, kind, threshold, spare):
    """Of documents by their rows, and among texts; with room for few pairs at a time."""
    values = np.array([value for each in sets for value in sorted(each)], np.uint64)
    sizes, words, n = np.array([len(each) for each in sets]), 2, len(sets)
    maps = np.zeros((n, words), np.uint64)
    fill_bitmaps(values, np.cumsum([0, *sizes]), np.arange(0, words * n + 1, words), maps.reshape(-1))
    sealed = np.zeros((n, words + 3), np.uint64)
    sealed[:, 0], sealed[:, 1], sealed[:, 2 : 2 + words] = np.arange(n) % 5, sizes, maps
    rows.seal_rows(sealed, 0)
    gone = np.array([0b10010], np.uint8)
    numbers, places = (part.ravel() for part in np.indices((n, n)))
    may = np.zeros(len(numbers), np.bool_)
    rows.sieve_rows(sealed, (1, 2), numbers, places, rows.Sieved(sizes, maps), CODES[kind], threshold, may)
    expected = {(place, number) for number, place in zip(numbers[may].tolist(), places[may].tolist(), strict=True)}

    def all_met(meet):
        met, found = rows.Met(*np.empty((2, spare * n), np.int64), np.zeros(2, np.int64)), []
        while met.state[1] < n:
            met.state[0] = 0
            meet(met)
            found += list(zip(*(column[: met.state[0]].tolist() for column in met[:2]), strict=True))
        assert len(set(found)) == len(found)
        return set(found)

    held = rows.Held(sizes, np.ascontiguousarray(maps.T), *np.empty((2, n), np.int64))
    found = all_met(lambda met: rows.meet_rows(sealed, (0, 1, 2), 2, gone, held, CODES[kind], threshold, met))
    assert found == {(place, number) for place, number in expected if number % 5 >= 2 and number not in (1, 4)}
    among = all_met(lambda met: rows.meet_texts(maps, held, CODES[kind], threshold, met))
    assert among == {(place, number) for place, number in expected if place < number}
    sealed[n // 2, 1] += 1
    damaged = rows.meet_rows(
        sealed,
        (0, 1, 2),
        0,
        np.zeros(0, np.uint8),
        held,
        CODES[kind],
        threshold,
        rows.Met(*np.empty((2, n * n), np.int64), np.zeros(2, np.int64)),
    )
    assert damaged == n // 2


SETS = st.lists(st.sets(st.integers(0, 40), max_size=14), min_size=1, max_size=8)
COUNTS = st.dictionaries(st.integers(0, 40), st.integers(1, 9), max_size=20)


@given(SETS, COUNTS, st.sampled_from(["jaccard", "containment", "edit", "cosine"]), st.floats(0.05, 1.0), st.booleans())
def test_prefixes_are_the_rarest_elements(sets, counts, similarity, threshold, whole):
    order = Order(np.zeros(64, np.uint64), np.zeros(64, np.uint32), 58)
    prefixes.fill_order(np.array(list(counts), np.uint64), np.array(list(counts.values()), np.uint32), order)
    values = np.array([element for each in sets for element in sorted(each)], np.uint64)
    offsets, longest = np.cumsum([0, *map(len, sets)]), max(map(len, sets))
    out = Keys(*(np.empty(len(values), kind) for kind in KINDS))
    memory = Ordered(np.empty(longest, np.int64), np.empty(longest), np.empty(longest, np.uint64))
    wanted = np.array([number % 3 != 1 for number in range(len(sets))])
    code = CODES[similarity]
    count = keys_of_texts(values, np.ones(len(values)), offsets, wanted, order, code, threshold, whole, memory, out)
    found = [
        (int(text), int(key), int(place), int(size))
        for key, text, place, size in zip(*(column[:count] for column in out), strict=True)
    ]
    expected = []
    for number, each in enumerate(sets):
        if not wanted[number]:
            continue
        ordered = sorted(each, key=lambda element: (counts.get(element, 0), element))
        length = len(each) if whole else prefix_length(code, len(each), threshold)
        if similarity == "cosine" and not whole:  # all weigh the same: a rest of so many reaches the threshold
            mine = [key for text, key, *_ in found if text == number]
            length = len(mine)
            assert (len(each) - length) < threshold**2 * len(each) or not each
        expected += [(number, element, place, len(each)) for place, element in enumerate(ordered[:length])]
    assert found == expected


POSTINGS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 30), st.integers(0, 9), st.integers(1, 12)), max_size=30
)


@given(
    POSTINGS,
    POSTINGS,
    st.sets(st.integers(0, 30)),
    st.sampled_from([ANY, CODES["jaccard"], CODES["edit"]]),
    st.integers(0, 40),
)
def test_postings_find_what_the_definition_finds(kept, asked, gone, code, room):
    keys, questions = (
        Keys(*arrays(zip(*each, strict=True), KINDS)) if each else Keys(*(np.empty(0, kind) for kind in KINDS))
        for each in (kept, asked)
    )
    marks = np.zeros(3, np.uint8)  # numbers from 24 on are not marked
    for number in gone:
        if number < 24:
            marks[number >> 3] |= 1 << (number & 7)
    entries = Entries(*(np.empty(32, kind) for kind in (np.uint32, np.uint32, np.uint16, np.uint16)))
    chains = Chains(np.zeros(4, np.uint32), np.empty(32, np.uint32), 30)
    postings.add_entries(keys, 0, entries, chains)

    def matches(question, posting):
        if posting[0] != question[0] or (posting[1] in gone and posting[1] < 24):
            return False
        rest = min(question[3] - question[2], posting[3] - posting[2])
        return code == ANY or rest >= required_overlap(code, question[3], posting[3], 0.6)

    expected = sorted((question[1], posting[1]) for question in asked for posting in kept if matches(question, posting))
    used = Entries(*(column[: len(kept)] for column in entries))
    order = np.argsort(used.keys, kind="stable")
    in_order = Entries(*(column[order].copy() for column in used))
    directory = np.empty(9, np.uint32)
    postings.fill_directory(in_order.keys, 29, directory)
    half = len(kept) // 2
    parts = []
    for some in (slice(0, half), slice(half, None)):
        part = Entries(*(column[some] for column in used))
        order = np.argsort(part.keys, kind="stable")
        parts.append(Entries(*(column[order].copy() for column in part)))
    merged = Entries(*(np.empty(len(kept), column.dtype) for column in entries))
    there = postings.merge_entries(parts[0], parts[1], marks, merged)
    assert there == sum(not (posting[1] in gone and posting[1] < 24) for posting in kept)
    assert np.all(merged.keys[: there - 1] <= merged.keys[1:there]) if there else True
    for find, stored, where in (
        (postings.find_chained, entries, chains),
        (postings.find_sorted, in_order, in_pages(in_order, directory, 29)),
    ):
        large = Room(np.empty(1000, np.int64), np.empty(1000, np.int64))
        count = find(questions, stored, where, marks, code, 0.6, large)
        assert sorted(zip(large.asked[:count].tolist(), large.found[:count].tolist(), strict=True)) == expected
        small = Room(np.empty(room, np.int64), np.empty(room, np.int64))
        assert find(questions, stored, where, marks, code, 0.6, small) == count
        assert small.found.tolist()[:count] == large.found.tolist()[: min(room, count)]


def in_pages(entries, directory, shift):
    """Where entries are, with the pages of a file that has them one after another."""
    arrays = [*entries, directory]
    content = b"a header" + b"".join(array.tobytes() for array in arrays)
    starts = np.cumsum([8, *(array.nbytes for array in arrays[:-1])])
    sums = [xxhash.xxh3_128_intdigest(content[first : first + 4096]) >> 64 for first in range(0, len(content), 4096)]
    checked = np.zeros(len(sums), np.uint8)
    return Sorted(directory, shift, np.frombuffer(content, np.uint8).copy(), np.array(sums, np.uint64), checked, starts)


@pytest.mark.parametrize("seed", range(20))
def test_pages_are_checked_before_they_are_read(seed):
    """With a changed byte in the file, what is found is right, or a damaged page is told."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4000))
    kinds = (np.uint32, np.uint32, np.uint16, np.uint16)
    entries = Entries(*(rng.integers(0, np.iinfo(kind).max, count).astype(kind) for kind in kinds))
    hashes = rng.integers(0, 2**64, 5000, np.uint64)
    entries.keys[:] = np.sort((hashes[rng.integers(0, 5000, count)] * MIX) >> np.uint64(32))
    directory = np.empty((1 << 7) + 1, np.uint32)
    postings.fill_directory(entries.keys, 25, directory)
    asked = Keys(hashes, np.arange(5000), np.zeros(5000, np.uint32), np.ones(5000, np.uint32))
    room, marks = Room(np.empty(9000, np.int64), np.empty(9000, np.int64)), np.zeros(0, np.uint8)

    def found(part, where):
        asked_for = Keys(*(column[part] for column in asked))
        return postings.find_sorted(asked_for, entries, where, marks, ANY, 0.0, room)

    where = in_pages(entries, directory, 25)
    every = slice(0, 5000)
    expected = found(every, where)
    assert expected >= count
    assert where.is_checked[1:-1].any() or len(where.is_checked) < 3
    damaged = in_pages(entries, directory, 25)
    page = int(rng.integers(0, len(damaged.sums)))
    at = int(rng.integers(page * 4096, min((page + 1) * 4096, len(damaged.content))))
    damaged.content[at] ^= 1
    assert found(every, damaged) in (DAMAGED, expected)
    assert damaged.is_checked[page] == 0
    bucket = slice(int(rng.integers(0, 5000)), None)
    assert found(bucket, damaged) in (DAMAGED, found(bucket, where))


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 4), st.integers(0, 2**32))
def test_bands_have_the_keys_of_the_format(bands, per_band, texts, seed):
    values = np.random.default_rng(seed).integers(0, 1 << 32, (texts, bands * per_band)).astype(np.uint32)
    found = np.empty(texts * bands, np.uint64)
    band_keys.fill_band_keys(values, bands, found)
    expected = []
    for text in values.tolist():
        for band in range(bands):
            key = (band + 1) * 0x9E3779B97F4A7C15 % 2**64
            for value in text[band * per_band : (band + 1) * per_band]:
                key = (key ^ value) * 0x9E3779B97F4A7C15 % 2**64
                key ^= key >> 29
            expected.append(key)
    assert found.tolist() == expected
