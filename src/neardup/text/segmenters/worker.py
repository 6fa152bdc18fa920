"""The program of a worker process: reads texts from standard input and writes joined tokens, until the input ends."""

import os
import pickle
import sys
import traceback
from array import array

from neardup.errors import OptionError
from neardup.text.segmenters.cutting import Cut, CutterSettings, cut_texts, cutter_of

DONE, REFUSED, FAILED = range(3)


def main() -> None:
    """Serve until the input ends, which it also does when the parent process dies."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a package's printed output is not an answer
    requests = sys.stdin.buffer
    cut: Cut | None = None
    try:
        settings = CutterSettings(*pickle.load(requests))
        while True:
            data, offsets = pickle.load(requests)
            answer: tuple[int, object]
            try:
                cut = cut or cutter_of(settings)
                answer = DONE, cut_texts(data, array("q", offsets), cut, settings.segmenter)
            except OptionError as problem:
                answer = REFUSED, str(problem)
            except Exception:
                answer = FAILED, traceback.format_exc()
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except (EOFError, BrokenPipeError):
        os._exit(0)  # no one is left to answer
