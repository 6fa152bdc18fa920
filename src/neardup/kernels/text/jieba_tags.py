"""The tokens of texts as jieba's `posseg` cuts them, and which have one of some parts of speech.

Definitions: jieba 0.42.1, `POSTokenizer` and `posseg.viterbi`. Words of the likeliest way have the tag of the dictionary; what that
leaves in single characters is cut by a hidden Markov model whose states are pairs of a place in a word and a tag.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.text.jieba_routes import (
    ALPHANUMERIC,
    BEHIND,
    FIRST_SIGN,
    POINT,
    UNKNOWN_HAN,
    find_route,
    find_words,
    is_digit,
    number_characters,
)
from neardup.kernels.text.jieba_words import DOCUMENT, NEEDED, PLACE, TOKENS, last_separator, rank_of_word
from neardup.kernels.text.word_trie import FIRST_WORD

u64 = np.uint64
ONE = u64(1)
BEGIN, END, MIDDLE, SINGLE = range(4)
IMPOSSIBLE = -3.14e100
"""jieba's logarithm of a probability that is 0."""


class TagModel(NamedTuple):
    """A hidden Markov model of s states, in the order of their places and tags.

    Attributes:
        places: uint8[s], BEGIN, END, MIDDLE or SINGLE.
        wanted: bool[s], whether the tag is one that is asked for.
        start: float64[s], the logarithm of the probability to be first.
        before_firsts, before, move: int64[s + 1], int64[m], float64[m]: the states that each can come from, ascending, and the
            logarithms of these probabilities. Whatever can be reached leads on to another: so it is in jieba's model.
        of_firsts, of: int64[c + 1], int64[]: the states that a character has; none for any state.
        shown_firsts, shown_states, shown: int64[c + 1], int64[], float64[]: the states that can show a character, and how likely.
    """

    places: Array
    wanted: Array
    start: Array
    before_firsts: Array
    before: Array
    move: Array
    of_firsts: Array
    of: Array
    shown_firsts: Array
    shown_states: Array
    shown: Array


class TagScratch(NamedTuple):
    """Memory for the states of characters.

    Attributes:
        came_from: uint8[k, s], for k characters.
        sums: float64[2, s], of the character before and of this one.
        active: bool[2, s], which states these have.
        shown: float64[s].
        states: int64[k], the likeliest states.
    """

    came_from: Array
    sums: Array
    active: Array
    shown: Array
    states: Array


@kernel
def show(number, model, scratch):
    """How likely each state shows a character."""
    scratch.shown[:] = IMPOSSIBLE
    for i in range(model.shown_firsts[number], model.shown_firsts[number + 1]):
        scratch.shown[model.shown_states[i]] = model.shown[i]


@kernel
def enter(state, k, now, model, scratch):
    """Enter a state of character k from the likeliest before it; of equally likely ones, the last. Returns whether there is one."""
    best, chosen = -np.inf, -1
    for i in range(model.before_firsts[state], model.before_firsts[state + 1]):
        before = model.before[i]
        if scratch.active[1 - now, before]:
            weight = scratch.sums[1 - now, before] + model.move[i] + scratch.shown[state]
            if weight >= best:
                best, chosen = weight, before
    if chosen < 0:
        return False
    scratch.sums[now, state], scratch.active[now, state] = best, True
    scratch.came_from[k, state] = chosen
    return True


@kernel
def find_tagged_states(first, after, numbers, model, scratch):
    """The likeliest states of Chinese characters.

    A character has the states that are listed for it and can follow; if none of them can, any that can.
    """
    states = len(model.places)
    for k in range(after - first):
        now = k & 1
        number = np.int64(numbers[first + k])
        show(number, model, scratch)
        scratch.active[now, :] = False
        begin, end = model.of_firsts[number], model.of_firsts[number + 1]
        if k == 0:
            for i in range(states if begin == end else end - begin):
                state = i if begin == end else model.of[begin + i]
                scratch.sums[now, state] = model.start[state] + scratch.shown[state]
                scratch.active[now, state] = True
            continue
        found = False
        for i in range(begin, end):
            found |= enter(model.of[i], k, now, model, scratch)
        if not found:
            for state in range(states):
                enter(state, k, now, model, scratch)
    last = after - first - 1
    best, chosen = -np.inf, 0
    for state in range(states):
        if scratch.active[last & 1, state] and scratch.sums[last & 1, state] >= best:
            best, chosen = scratch.sums[last & 1, state], state
    for k in range(last, -1, -1):
        scratch.states[k] = chosen
        chosen = np.int64(scratch.came_from[k, chosen])


@kernel
def put_tagged(first, after, wanted, cut, starts, ends, kept, t):
    starts[t], ends[t], kept[t] = cut.places[first], cut.places[after], wanted
    return t + ONE


@kernel
def guess_tagged(first, after, model, cut, scratch, starts, ends, kept, t):
    """Put the words that the model finds in Chinese characters."""
    find_tagged_states(np.int64(first), np.int64(after), cut.numbers, model, scratch)
    begin = done = first
    for k in range(first, after):
        state = scratch.states[np.int64(k - first)]
        place = model.places[state]
        if place == BEGIN:
            begin = k
        elif place in (END, SINGLE):
            t = put_tagged(begin if place == END else k, k + ONE, model.wanted[state], cut, starts, ends, kept, t)
            done = k + ONE
    if done < after:
        state = scratch.states[np.int64(done - first)]
        t = put_tagged(done, after, model.wanted[state], cut, starts, ends, kept, t)
    return t


@kernel
def is_sign(number):
    return number >= FIRST_SIGN and number < UNKNOWN_HAN and number != POINT


@kernel
def end_of_kind(k, after, numbers):
    """Where the token ends that begins at `k`: digits and points, or letters and digits, or other signs."""
    first = numbers[k]
    k += ONE
    if first == POINT or is_digit(first):
        while k < after and (numbers[k] == POINT or is_digit(numbers[k])):
            k += ONE
    elif first < FIRST_SIGN:
        while k < after and numbers[k] >= ALPHANUMERIC and numbers[k] < FIRST_SIGN:
            k += ONE
    else:
        while k < after and is_sign(numbers[k]):
            k += ONE
    return k


@kernel
def put_tagged_run(first, after, tables, model, cut, scratch, starts, ends, kept, t):
    """Put the tokens of single characters that stand together."""
    numbers = cut.numbers
    k = first
    if after - first == ONE or (cut.pairs[first] != u64(0) and rank_of_word(first, after, tables, cut) >= FIRST_WORD):
        while k < after:
            t = put_tagged(k, k + ONE, False, cut, starts, ends, kept, t)
            k += ONE
        return t
    while k < after:
        begin = k
        if numbers[k] >= UNKNOWN_HAN:
            while k < after and numbers[k] >= UNKNOWN_HAN:
                k += ONE
            t = guess_tagged(begin, k, model, cut, scratch, starts, ends, kept, t)
        else:
            k = end_of_kind(k, after, numbers)
            t = put_tagged(begin, k, False, cut, starts, ends, kept, t)
    return t


@kernel
def put_tagged_tokens(n, tables, model, cut, scratch, starts, ends, kept, t):
    """Put the tokens of the first n characters; returns how many there are."""
    lengths, wanted_from = cut.lengths, u64(tables.model[13])
    k, after = u64(0), u64(n)
    while k < after:
        first = k
        while lengths[k] == 1:
            k += ONE
        if k > first:
            t = put_tagged_run(first, k, tables, model, cut, scratch, starts, ends, kept, t)
        if k < after:
            end = k + max(u64(lengths[k]), ONE)
            wanted = lengths[k] > 1 and rank_of_word(k, end, tables, cut) >= wanted_from
            t = put_tagged(k, end, wanted, cut, starts, ends, kept, t)
            k = end
    return t


@kernel
def tag_documents(data, offsets, tables, model, folds, cut, scratch, starts, ends, kept, documents, reached):
    """All tokens of the documents `data[offsets[d]:offsets[d + 1]]`, valid UTF-8: token t is data[starts[t]:ends[t]].

    kept: bool[t], whether a token of two characters or more has one of the tags that are asked for: of words of the dictionary,
    those whose rank is at least tables.model[13]. `cut`: a `neardup.kernels.text.jieba_routes.CutScratch`, and `scratch` for as
    many characters. Everything else is as in `neardup.kernels.text.jieba_words.cut_documents`.
    """
    d, i, t = reached[DOCUMENT], reached[PLACE], u64(reached[TOKENS])
    reached[NEEDED] = 0
    documents[0] = 0
    while d < len(offsets) - 1:
        end = offsets[d + 1]
        i = max(i, offsets[d])
        while i < end:
            n = number_characters(data, i, end, tables, folds, cut)
            if cut.places[n] < end:
                n = last_separator(n, cut)
                if n == 0:
                    reached[DOCUMENT], reached[PLACE], reached[TOKENS], reached[NEEDED] = d, i, np.int64(t), 1
                    return
                for k in range(n, n + BEHIND):
                    cut.numbers[k] = np.uint16(0)
            find_words(n, tables, cut)
            find_route(n, tables, cut)
            t = put_tagged_tokens(n, tables, model, cut, scratch, starts, ends, kept, t)
            i = cut.places[n]
        d += 1
        documents[d] = np.int64(t)
    reached[DOCUMENT], reached[PLACE], reached[TOKENS] = d, i, np.int64(t)
