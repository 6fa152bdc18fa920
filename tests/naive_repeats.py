"""The definition of repeated passages, slow and obvious, without anything of the package.

Documents are lists of pieces, and pieces lists of tokens. A place is (document, piece, token).
"""


def repeated_windows(documents, size, *, order=None, scope="all", groups=None, references=0):
    """The earliest place of each window of `size` tokens that stood earlier, by its place.

    `order`: the documents, the preferred ones first, but for the last `references`, which come before all and are not looked at.
    """
    count = len(documents)
    order = list(range(count - references)) if order is None else list(order)
    first, found = {}, {}
    for number in [*range(count - references, count), *order]:
        for piece, sequence in enumerate(documents[number]):
            for i in range(len(sequence) - size + 1):
                place, window = (number, piece, i), tuple(sequence[i : i + size])
                key = (window, None if groups is None else groups[number], number if scope == "same-document" else None)
                earlier = first.setdefault(key, place)
                is_other = scope != "other-documents" or earlier[0] != number
                if earlier != place and is_other and number < count - references:
                    found[place] = earlier
    return found


def cuts(repeated, size):
    """The runs of tokens that repeated windows cover: (document, piece, first token, end), ascending."""
    covered = sorted({(d, p, i + j) for d, p, i in repeated for j in range(size)})
    found = []
    for d, p, i in covered:
        if found and found[-1][:2] == [d, p] and found[-1][3] == i:
            found[-1][3] = i + 1
        else:
            found.append([d, p, i, i + 1])
    return [tuple(each) for each in found]


def segments(documents, repeated, size):
    """Each cut divided: (place, earlier place, number of tokens)."""
    found = []
    for d, p, begin, end in cuts(repeated, size):
        at = begin
        while at < end:
            window = max(i for e, q, i in repeated if (e, q) == (d, p) and i <= at)
            other, piece, place = repeated[d, p, window]
            place += at - window
            mine, theirs = documents[d][p][at:end], documents[other][piece][place:]
            same = next(
                (n for n, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs))
            )
            found.append(((d, p, at), (other, piece, place), same))
            at += same
    return found
