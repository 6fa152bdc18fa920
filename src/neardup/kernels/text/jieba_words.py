"""The tokens of texts, as jieba cuts them: words of the likeliest way, and words guessed in what that leaves in single characters.

Definitions: jieba 0.42.1, `Tokenizer.cut` and `cut_for_search`, `finalseg.cut`.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import trailing_zeros
from neardup.kernels.text.jieba_routes import (
    BEHIND,
    FIRST_SIGN,
    LETTER,
    SEPARATOR,
    UNKNOWN_HAN,
    end_of_number,
    find_route,
    find_words,
    is_alphanumeric,
    number_characters,
)
from neardup.kernels.text.jieba_states import (
    BEGIN,
    END,
    SINGLE,
    find_states,
    first_weights,
    next_weights,
    state_before,
)
from neardup.kernels.text.word_trie import FIRST_WORD, FORBIDDEN, child, rank_of

u64 = np.uint64
ONE = u64(1)
GUESS, SEARCH, EVERY, FORBID = 1, 2, 4, 8
"""How to cut: guess words by the model; give also the words in words; give also what has no letter, mark or number; look for
guessed words that are forbidden.
"""
SHORT = u64(16)
"""Characters whose states fit into 64 bits, four for each."""
DOCUMENT, PLACE, TOKENS, NEEDED = range(4)
"""What `cut_documents` has reached: the text, the byte in it, the number of tokens; and whether it needs more room."""


@kernel
def rank_of_word(first, after, tables, scratch):
    """The rank of the characters from `first` up to `after` as a word."""
    numbers = scratch.numbers
    node = tables.roots[numbers[first]]
    k = first + ONE
    while k < after and node != u64(0):
        node = child(tables.labels, tables.slots, node, numbers[k])
        k += ONE
    return rank_of(node)


@kernel
def has_letter(first, after, scratch):
    """Whether one of the characters is no sign of `SIGNS`."""
    for k in range(first, after):
        number = scratch.numbers[k]
        if number < FIRST_SIGN or number >= UNKNOWN_HAN:
            return True
    return False


@kernel
def put(first, after, how, scratch, starts, ends, t):
    """Put one token, unless it has no letter; returns how many there are."""
    if how & EVERY != 0 or has_letter(first, after, scratch):
        starts[t], ends[t] = scratch.places[first], scratch.places[after]
        t += ONE
    return t


@kernel
def put_token(first, after, how, scratch, starts, ends, t):
    """Put one token, in search mode after the words of two and of three characters in it."""
    if how & SEARCH != 0:
        if after - first > 2:
            for k in range(first, after - ONE):
                if rank_of(scratch.pairs[k]) >= FIRST_WORD:
                    t = put(k, k + u64(2), how, scratch, starts, ends, t)
        if after - first > 3:
            for k in range(first, after - u64(2)):
                if rank_of(scratch.triples[k]) >= FIRST_WORD:
                    t = put(k, k + u64(3), how, scratch, starts, ends, t)
    return put(first, after, how, scratch, starts, ends, t)


@kernel
def put_singles(first, after, how, scratch, starts, ends, t):
    for k in range(first, after):
        t = put(k, k + ONE, how, scratch, starts, ends, t)
    return t


@kernel
def put_short_guess(first, after, how, tables, scratch, starts, ends, t):
    """Put the words that the model finds in at most SHORT Chinese characters, as `guess_han` does.

    The way back stays in a register. It ends in an end or a single, and between two of these no other word begins: tokens go from
    one end to the next.
    """
    numbers, places = scratch.numbers, scratch.places
    begin, end, middle, single = first_weights(numbers[first], tables)
    came_from, shift = u64(0), u64(0)
    for k in range(first + ONE, after):
        begin, end, middle, single, seconds = next_weights(begin, end, middle, single, numbers[k], tables)
        shift += u64(4)
        came_from |= seconds << shift
    state = u64(SINGLE) if single >= end else u64(END)
    stops = ONE << (after - first - ONE)
    while shift != u64(0):
        state = state_before(state, came_from >> shift)
        shift -= u64(4)
        stops |= (state & ONE) << (shift >> u64(2))  # E and S are odd
    start = first
    while stops != u64(0):
        stop = first + trailing_zeros(stops) + ONE
        if how & SEARCH != 0 and stop - start > u64(2):
            t = put_token(start, stop, how, scratch, starts, ends, t)
        else:
            starts[t], ends[t] = places[start], places[stop]
            t += ONE
        start = stop
        stops &= stops - ONE
    return t


@kernel
def is_forbidden(rank, tables):
    return rank == FORBIDDEN or rank >= u64(tables.model[13])


@kernel
def put_guessed(first, after, how, tables, scratch, starts, ends, t):
    """Put a guessed token, or its characters if it is forbidden."""
    if how & FORBID != 0 and is_forbidden(rank_of_word(first, after, tables, scratch), tables):
        for k in range(first, after):
            t = put_token(k, k + ONE, how, scratch, starts, ends, t)
        return t
    return put_token(first, after, how, scratch, starts, ends, t)


@kernel
def guess_han(first, after, how, tables, scratch, starts, ends, t):
    """Put the words that the model finds in Chinese characters."""
    if after - first == ONE:
        return put_guessed(first, after, how, tables, scratch, starts, ends, t)
    find_states(first, after, tables, scratch)
    begin = done = first
    for k in range(first, after):
        state = scratch.states[k]
        if state == BEGIN:
            begin = k
        elif state == END:
            t = put_guessed(begin, k + ONE, how, tables, scratch, starts, ends, t)
            done = k + ONE
        elif state == SINGLE:
            t = put_guessed(k, k + ONE, how, tables, scratch, starts, ends, t)
            done = k + ONE
    if done < after:
        t = put_guessed(done, after, how, tables, scratch, starts, ends, t)
    return t


@kernel
def guess(first, after, how, tables, scratch, starts, ends, t):
    """Put the tokens of a run of single characters: what the model finds in Chinese ones, numbers with letters, other signs."""
    numbers = scratch.numbers
    k = first
    while k < after:
        begin = k
        if numbers[k] >= UNKNOWN_HAN:
            while k < after and numbers[k] >= UNKNOWN_HAN:
                k += ONE
            t = guess_han(begin, k, how, tables, scratch, starts, ends, t)
            continue
        if is_alphanumeric(numbers[k]):
            k = end_of_number(k, after, numbers)
        else:
            while k < after and numbers[k] < UNKNOWN_HAN and not is_alphanumeric(numbers[k]):
                k += ONE
        t = put_token(begin, k, how, scratch, starts, ends, t)
    return t


@kernel
def put_run(first, after, how, tables, scratch, starts, ends, t):
    """Put the tokens of single characters that stand together, up to the next word or separator."""
    if how & GUESS != 0:
        if scratch.pairs[first] != u64(0) and rank_of_word(first, after, tables, scratch) >= FIRST_WORD:
            return put_singles(first, after, how, scratch, starts, ends, t)
        return guess(first, after, how, tables, scratch, starts, ends, t)
    numbers = scratch.numbers
    k = first
    while k < after:
        begin = k
        while k < after and is_alphanumeric(numbers[k]):
            k += ONE
        k = max(k, begin + ONE)
        t = put_token(begin, k, how, scratch, starts, ends, t)
    return t


@kernel
def put_tokens(n, how, tables, scratch, starts, ends, t):
    """Put the tokens of the first n characters; returns how many there are.

    What comes next is hard to predict, so words, lone characters and separators are put in one way, and a branch is only for what
    is rare: characters that stand together, and tokens that begin with a sign or have words in them.
    """
    lengths, numbers, places = scratch.lengths, scratch.numbers, scratch.places
    searches, every = how & SEARCH != 0, how & EVERY != 0
    guesses, forbids = how & GUESS != 0, how & FORBID != 0
    k, after = u64(0), u64(n)
    while k < after:
        length, number = u64(lengths[k]), numbers[k]
        end = k + max(length, ONE)
        starts[t], ends[t] = places[k], places[end]
        if length == ONE and lengths[end] == 1:
            lowest = number
            while lengths[end] == 1:
                lowest = min(lowest, numbers[end])
                end += ONE
            is_short = end - k <= SHORT and scratch.pairs[k] == u64(0)
            if guesses and not forbids and lowest >= UNKNOWN_HAN and is_short:
                t = put_short_guess(k, end, how, tables, scratch, starts, ends, t)
            elif not guesses and lowest >= UNKNOWN_HAN:
                for alone in range(k, end):
                    starts[t], ends[t] = places[alone], places[alone + ONE]
                    t += ONE
            else:
                t = put_run(k, end, how, tables, scratch, starts, ends, t)
        elif (number >= FIRST_SIGN and number < UNKNOWN_HAN) or (searches and length > u64(2)):
            t = put_token(k, end, how, scratch, starts, ends, t)
        else:
            t += u64(number != SEPARATOR or every)
        k = end
    return t


@kernel
def last_separator(n, scratch):
    """Behind the last separator of the first n characters, or 0."""
    while n > 0 and scratch.numbers[n - 1] > LETTER:
        n -= 1
    return n


@kernel
def cut_documents(data, offsets, how, tables, folds, scratch, starts, ends, documents, reached):
    """The tokens of the documents `data[offsets[d]:offsets[d + 1]]`, valid UTF-8: token t is data[starts[t]:ends[t]].

    starts, ends: int64[], with a place for each byte, in search mode two. documents: int64[n + 1], where the tokens of each begin.
    reached: int64[4], zeros; if `scratch` has no room for what stands between two separators, reached[NEEDED] becomes 1, and the
    next call with more room goes on.
    """
    d, i, t = reached[DOCUMENT], reached[PLACE], u64(reached[TOKENS])
    reached[NEEDED] = 0
    documents[0] = 0
    while d < len(offsets) - 1:
        end = offsets[d + 1]
        i = max(i, offsets[d])
        while i < end:
            n = number_characters(data, i, end, tables, folds, scratch)
            if scratch.places[n] < end:
                n = last_separator(n, scratch)
                if n == 0:
                    reached[DOCUMENT], reached[PLACE], reached[TOKENS], reached[NEEDED] = d, i, np.int64(t), 1
                    return
                for k in range(n, n + BEHIND):
                    scratch.numbers[k] = np.uint16(0)
            find_words(n, tables, scratch)
            find_route(n, tables, scratch)
            t = put_tokens(n, how, tables, scratch, starts, ends, t)
            i = scratch.places[n]
        d += 1
        documents[d] = np.int64(t)
    reached[DOCUMENT], reached[PLACE], reached[TOKENS] = d, i, np.int64(t)
