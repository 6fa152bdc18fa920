"""Runs the examples of a page that have a word in them, as doctests. Prints how many there were."""

import doctest
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    page, word = sys.argv[1:]
    blocks = re.findall(r"^```py\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    runner, tried = doctest.DocTestRunner(), 0
    for block in blocks:
        if word in block:
            tried += 1
            runner.run(doctest.DocTestParser().get_doctest(block, {}, word, page, 0))
    assert runner.summarize().failed == 0
    print(tried)
