"""Chinese words as cppjieba cuts them, from the files of the package jieba; runs in worker processes, so it imports nothing heavy.

cppjieba, and gojieba and nodejieba with it, cuts a text at a few separators, chooses the likeliest words of a dictionary in each
part, and guesses words in runs of single characters with a hidden Markov model. rjieba's dictionary and model are the same, but it
cuts at all punctuation, and guesses in other places. Numbers are added in cppjieba's order, so that ties are decided as there.
"""

import importlib.util
import math
from functools import lru_cache, partial
from typing import Any

from neardup.recipe.files.jieba_files import DICTIONARY, MODEL, path_in_jieba
from neardup.text.segmenters.cutting import Cut, CutterSettings
from neardup.text.segmenters.jieba_data import IMPOSSIBLE, STATES

SEPARATORS = frozenset(" \t\n，。")
BEGIN, END, MIDDLE, SINGLE = range(4)
# fmt: off
MISSING = (
    "4S店", "4s店", "1号店", "AA制", "AB型", "A型", "A座", "A股", "A轮", "BB机", "BP机", "B型", "B座", "B股", "B轮",
    "CALL机", "CD机", "CD盒", "C座", "C盘", "C语言", "D座", "D版", "D盘", "E化", "E座", "E盘", "E通", "F座", "F盘",
    "G盘", "H盘", "H股", "IC卡", "IP卡", "IP地址", "IP电话", "I盘", "K党", "K歌之王", "N年", "O型", "PC机", "PH值",
    "QQ号", "Q版", "RSS订阅", "SIM卡", "T台", "T型台", "T恤衫", "T盘", "U盘", "VISA卡", "X光", "X光线", "X射线", "Z盘",
    "γ射线", "吉林", "大S", "小S", "江南Style", "江南style", "阿Q",
)
# fmt: on
"""The words of jieba's dictionary that cppjieba's lacks."""
ADDED = {"张力": 160, "张华": 140}
"""The words of cppjieba's dictionary that jieba's lacks, with their counts."""
USUAL = 3
"""The count of a user's word without one: the median of the dictionary."""

Weights = dict[str, float | None]
"""The logarithm of each word's share, and None for the beginnings of words that are no words."""


def _probabilities(name: str) -> Any:
    """A table of jieba's model, compiled by Python, which is faster than reading it (`jieba_data.read_model`)."""
    spec = importlib.util.spec_from_file_location("jieba_model", path_in_jieba(name))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.P


@lru_cache(1)
def _dictionary() -> tuple[Weights, float, float]:
    """The words of the dictionary, the sum of their counts, and the logarithm of the smallest share."""
    lines = path_in_jieba(DICTIONARY).read_text(encoding="utf-8").splitlines()
    counts = {word: float(count) for word, count, _ in (line.split(" ") for line in lines)}
    for word in MISSING:
        counts.pop(word, None)
    counts |= ADDED
    total = math.fsum(counts.values())
    logarithms = {count: math.log(count / total) for count in set(counts.values())}
    beginnings = {word[:end] for word in counts for end in range(1, len(word))}
    weights: Weights = dict.fromkeys(beginnings)
    weights.update((word, logarithms[count]) for word, count in counts.items())
    return weights, total, min(logarithms.values())


def _add(weights: Weights, word: str, weight: float) -> None:
    for end in range(1, len(word)):
        weights.setdefault(word[:end])
    weights[word] = weight


@lru_cache(1)
def _model() -> tuple[list[float], list[list[float]], list[dict[str, float]]]:
    """The first state, the next one, and the character, given a state; cppjieba's file has six digits of the last."""
    start, move, show = map(_probabilities, MODEL)
    return (
        [start[state] for state in STATES],
        [[move[state].get(next_state, IMPOSSIBLE) for next_state in STATES] for state in STATES],
        [{character: round(value, 6) for character, value in show[state].items()} for state in STATES],
    )


def cutter(settings: CutterSettings) -> Cut:
    """The function that cuts a text, with its own dictionary."""
    weights, total, lightest = _dictionary()
    if settings.dictionary:
        weights = weights.copy()
        for word, count in settings.dictionary:
            _add(weights, word, math.log((count or USUAL) / total))
    singles = frozenset(word for word, _ in settings.dictionary if len(word) == 1)
    guess = lru_cache(1 << 16)(_guess) if settings.hmm else None
    found: Cut = partial(_cut, weights, lightest, singles, guess)
    return found


def _cut(weights: Weights, lightest: float, singles: frozenset[str], guess: Any, text: str) -> list[str]:
    tokens: list[str] = []
    first = 0
    for i, character in enumerate(text):
        if character in SEPARATORS:
            _cut_part(weights, lightest, singles, guess, text[first:i], tokens)
            first = i + 1
    _cut_part(weights, lightest, singles, guess, text[first:], tokens)
    return tokens


def _cut_part(
    weights: Weights, lightest: float, singles: frozenset[str], guess: Any, part: str, tokens: list[str]
) -> None:
    """Append the words of a part without separators."""
    ends, start = _likeliest(weights, lightest, part), 0
    run = 0  # where the run of single characters begins
    while start < len(part):
        end = ends[start]
        if guess is None:
            tokens.append(part[start:end])
        elif end > start + 1 or part[start] in singles:
            if run < start:
                tokens += guess(part[run:start])
            tokens.append(part[start:end])
            run = end
        start = end
    if guess is not None and run < len(part):
        tokens += guess(part[run:])


def _likeliest(weights: Weights, lightest: float, part: str) -> list[int]:
    """Where the word ends that begins at each character, if the part from there on is cut into the likeliest words.

    Of equally likely words, the shortest is chosen.
    """
    n = len(part)
    best, ends = [0.0] * (n + 1), [0] * n
    for i in range(n - 1, -1, -1):
        end, beginning = i + 1, part[i]
        known = beginning in weights
        weight = weights[beginning] if known else None
        most, chosen = best[end] + (lightest if weight is None else weight), end
        while known and end < n:
            end += 1
            beginning = part[i:end]
            known = beginning in weights
            if known and (weight := weights[beginning]) is not None and best[end] + weight > most:
                most, chosen = best[end] + weight, end
        best[i], ends[i] = most, chosen
    return ends


def _guess(run: str) -> list[str]:
    """The words in a run of single characters: letters and digits, numbers, and what the model guesses between them."""
    tokens: list[str] = []
    first = i = 0
    while i < len(run):
        if run[i] >= "\x80":
            i += 1
            continue
        _by_model(run[first:i], tokens)
        first, letter = i, run[i].isalpha()
        i += 1
        if letter or run[first].isdigit():
            while (
                i < len(run) and run[i] < "\x80" and (run[i].isalnum() if letter else run[i].isdigit() or run[i] == ".")
            ):
                i += 1
        tokens.append(run[first:i])
        first = i
    _by_model(run[first:], tokens)
    return tokens


def _by_model(run: str, tokens: list[str]) -> None:
    """Append the words of the likeliest states (Viterbi 1967); of equally likely ones, the first in the order of STATES."""
    if not run:
        return
    start, move, show = _model()
    weights = [start[y] + show[y].get(run[0], IMPOSSIBLE) for y in range(4)]
    came_from = []
    for character in run[1:]:
        now, path = [], []
        for y in range(4):
            most, chosen, shown = IMPOSSIBLE, END, show[y].get(character, IMPOSSIBLE)
            for x in range(4):
                weight = weights[x] + move[x][y] + shown
                if weight > most:
                    most, chosen = weight, x
            now.append(most)
            path.append(chosen)
        weights = now
        came_from.append(path)
    states = [END if weights[END] >= weights[SINGLE] else SINGLE]
    for path in reversed(came_from):
        states.append(path[states[-1]])
    first = 0
    for i, state in enumerate(reversed(states), 1):
        if state in (END, SINGLE):
            tokens.append(run[first:i])
            first = i
