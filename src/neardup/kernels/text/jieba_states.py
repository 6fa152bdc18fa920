"""The likeliest states of Chinese characters: a word's begin, end and middle, and a word of one character (Viterbi 1967).

The model is jieba's hidden Markov model, `finalseg.viterbi` of jieba 0.42.1; sums are made in its order.
"""

import numpy as np

from neardup.kernels.compilation import kernel

u64 = np.uint64
ONE = u64(1)
BEGIN, END, MIDDLE, SINGLE = 0, 1, 2, 3


@kernel
def first_weights(row, tables):
    """The weights of the states B, E, M and S of a first character, of number `row`."""
    shown, model = tables.shown, tables.model
    return (
        model[1] + shown[row, BEGIN],
        model[2] + shown[row, END],
        model[3] + shown[row, MIDDLE],
        model[4] + shown[row, SINGLE],
    )


@kernel
def next_weights(begin, end, middle, single, row, tables):
    """The weights of the states of the next character, of number `row`; and in four bits, from which of two each comes.

    B comes from E or S, E from B or M, M from B or M, S from E or S; a bit is for the second, chosen of equally likely ones.
    """
    shown, model = tables.shown, tables.model
    to_begin, to_end, to_middle, to_single = shown[row, BEGIN], shown[row, END], shown[row, MIDDLE], shown[row, SINGLE]
    begin_0, begin_1 = end + model[5] + to_begin, single + model[6] + to_begin
    middle_0, middle_1 = begin + model[7] + to_middle, middle + model[8] + to_middle
    end_0, end_1 = begin + model[9] + to_end, middle + model[10] + to_end
    single_0, single_1 = end + model[11] + to_single, single + model[12] + to_single
    seconds = u64(begin_1 >= begin_0) | u64(end_1 >= end_0) << ONE
    seconds |= u64(middle_1 >= middle_0) << u64(2) | u64(single_1 >= single_0) << u64(3)
    return (
        begin_1 if begin_1 > begin_0 else begin_0,
        end_1 if end_1 > end_0 else end_0,
        middle_1 if middle_1 > middle_0 else middle_0,
        single_1 if single_1 > single_0 else single_0,
        seconds,
    )


@kernel
def state_before(state, seconds):
    """From which state `state` comes, by the bits of `next_weights`. uint64s."""
    outer = ONE & ~(state ^ state >> ONE)  # of B and S, which come from E or S; the others come from B or M
    return (seconds >> state & ONE) << ONE | outer


@kernel
def find_states(first, after, tables, scratch):
    """The likeliest states of Chinese characters. Of equally likely ones, the last in the order of the letters B, E, M, S."""
    numbers, states = scratch.numbers, scratch.states
    begin, end, middle, single = first_weights(numbers[first], tables)
    for k in range(first + ONE, after):
        begin, end, middle, single, seconds = next_weights(begin, end, middle, single, numbers[k], tables)
        states[k] = np.uint8(seconds)
    state, k = u64(SINGLE) if single >= end else u64(END), after - ONE
    while k > first:
        seconds, states[k] = u64(states[k]), np.uint8(state)
        state = state_before(state, seconds)
        k -= ONE
    states[first] = np.uint8(state)
