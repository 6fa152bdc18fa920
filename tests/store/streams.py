"""Streams of texts with near copies, the ways to compare them, and what a batch and a store say of them."""

import random

import neardup as nd

WAYS = [
    ("exact", "jaccard", 0.7),
    ("exact", "weighted", 0.6),
    ("exact", "edit", 0.7),
    ("exact", "cosine", 0.8),
    ("exact", "containment", 0.7),
    ("minhash", "jaccard", 0.7),
    ("simhash", "jaccard", 0.6),
    ("simhash", "cosine", 0.8),
    ("simhash", "jaccard", 0.0),
    ("exact", nd.Similarity(word_shingle=1), 0.7),
    ("exact", nd.Similarity(segmenter="characters", word_shingle=4), 0.8),
    ("minhash", nd.Similarity(word_shingle=2), 0.7),
]


def near_copies(count, seed):
    """Texts of few words, many of which are near copies of others, some equal, some empty."""
    choose = random.Random(seed)
    first = [[f"w{choose.randrange(60)}" for _ in range(choose.randrange(40))] for _ in range(max(1, count // 4))]
    for _ in range(count):
        words = list(choose.choice(first))
        for _ in range(choose.randrange(4)):
            if words:
                words[choose.randrange(len(words))] = f"w{choose.randrange(60)}"
        text = " ".join(words + words[:5] if choose.random() < 0.2 else words)
        yield text.upper() if choose.random() < 0.1 else text


def decisions(texts, **options):
    """What `deduplicate` says of each removed row."""
    removed = nd.deduplicate(texts, **options).duplicates.to_pylist()
    return {
        each["row"]: tuple(each[name] for name in ("survivor_row", "similarity", "distance", "exact"))
        for each in removed
    }


def streamed(store, texts, size, first=0):
    """The same of a store that is asked about so many documents at a time, whose ids are their rows."""
    found = {}
    for begin in range(first, first + len(texts), size):
        rows = list(range(begin, min(first + len(texts), begin + size)))
        found |= duplicates(rows, store.check_and_add_many(rows, [texts[row - first] for row in rows]))
    return found


def duplicates(ids, answers):
    """What answers say of the documents that are not new, by their ids."""
    return {
        name: (answer.matches[0].id, answer.matches[0].similarity, answer.matches[0].distance, answer.exact)
        for name, answer in zip(ids, answers, strict=True)
        if not answer.is_new
    }


def seen(answer):
    """All matches of an answer, as `NaiveStore` tells them."""
    return [(match.similarity, match.distance, answer.exact, match.id) for match in answer.matches]


def of_batch(texts, **options):
    """What `deduplicate` says of each row, as a stream says it of ids that are the rows."""
    found = decisions(texts, cluster="star", keep="first", **({"method": "exact"} | options))
    return [nd.Match(*found[row]) if row in found else None for row in range(len(texts))]


def allowed(method, similarity):
    return not (method == "minhash" and similarity == "containment")
