"""Chinese words by rjieba, the binding of jieba-rs; runs in worker processes, so it imports nothing heavy."""

from typing import Any

from neardup.text.segmenters.cutting import Cut, CutterSettings


def cutter(settings: CutterSettings) -> Cut:
    """The function that cuts a text, with its own dictionary."""
    import rjieba

    jieba: Any = rjieba.Jieba()
    for word, count in settings.dictionary:
        jieba.add_word(word, count, None)  # without a count, the word gets one that makes it a word wherever it occurs
    cut = jieba.cut_for_search if settings.mode == "search" else jieba.cut
    return lambda text: cut(text, settings.hmm)
