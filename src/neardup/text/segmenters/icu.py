"""Thai, Lao, Khmer, Burmese and other words by ICU, which the package icu4py brings; runs in worker processes, so it imports
nothing heavy.
"""

import re

from neardup.text.segmenters.cutting import Cut, CutterSettings

COMPOSED = {
    "\u0e4d\u0e32": "\u0e33",
    "\u0ecd\u0eb2": "\u0eb3",
    "\u0eab\u0e99": "\u0edc",
    "\u0eab\u0ea1": "\u0edd",
}
"""Thai and Lao AM, Lao HO NO and HO MO: NFKC makes two characters of each, and ICU's dictionaries have the one."""
_WRITTEN = re.compile("|".join([*COMPOSED, *COMPOSED.values()]))
_SINGLE = re.compile(f"[{''.join(COMPOSED.values())}]")


def cutter(_settings: CutterSettings) -> Cut:
    """The function that cuts a text between all its words, by the rules of no particular language."""
    from icu4py.breakers import WordBreaker

    def cut(text: str) -> list[str]:
        composed = _WRITTEN.sub(lambda found: COMPOSED.get(found[0], found[0]), text)
        words = list(WordBreaker(composed, "root"))
        if len(composed) == len(text):
            return words
        written = iter(_WRITTEN.findall(text))
        return [_SINGLE.sub(lambda _: next(written), word) for word in words]

    return cut
