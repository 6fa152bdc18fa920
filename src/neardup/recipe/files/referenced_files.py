"""Read the files that a recipe names; their contents replace their paths."""

from pathlib import Path
from typing import Any

from neardup.errors import InputError, NeardupError
from neardup.recipe.files.dictionaries import dictionary_problems
from neardup.recipe.files.document_frequencies import BACKGROUND, DocumentFrequencies, background_digest
from neardup.recipe.files.word_lists import STOP_LISTS, USER_DICTIONARIES, WordList, stop_list, user_dictionary
from neardup.recipe.stored_parts import StoredPart


def read_dictionary(given: Any, segmenter: Any) -> tuple[Any, list[str]]:
    """Read a user dictionary. Returns it with its problems."""
    if given is None or isinstance(given, (WordList, StoredPart)):
        return given, []
    if not isinstance(given, (str, Path)):
        return given, [f"`dictionary={given!r}`: give the path of a file, or one of {', '.join(USER_DICTIONARIES)}"]
    try:
        found = user_dictionary(given)
    except InputError as problem:
        return given, [str(problem)]
    return found, dictionary_problems(segmenter, found)


def read_stop_words(given: Any) -> tuple[Any, list[str]]:
    """Read stop lists. Returns them with their problems."""
    if not isinstance(given, (list, tuple)):
        return given, [f"`stop_words={given!r}`: give a list of names, of {', '.join(STOP_LISTS)}, or paths"]
    lists: list[Any] = []
    problems = []
    for each in given:
        if isinstance(each, (WordList, StoredPart)):
            lists.append(each)
        elif isinstance(each, (str, Path)):
            try:
                lists.append(stop_list(each))
            except InputError as problem:
                problems.append(str(problem))
        else:
            problems.append(f"`stop_words`: {each!r} is neither a name nor a path")
    return tuple(lists), problems


def document_frequencies(given: Any) -> DocumentFrequencies:
    """Resolve the field of a recipe, which is a path or BACKGROUND.

    Raises:
        InputError: the file does not exist.
        DataError: the file holds no document frequencies.
        MissingExtra: the field is BACKGROUND, and the package jieba is not installed.
    """
    if isinstance(given, DocumentFrequencies):
        return given
    if given == BACKGROUND:
        return DocumentFrequencies(background_digest(), BACKGROUND)
    if not isinstance(given, (str, Path)):
        raise InputError(
            f"`document_frequencies={given!r}`: give the path of a file by `neardup fit`, or {BACKGROUND!r} for the "
            "inverse document frequencies of that package"
        )
    from neardup.recipe.files.frequency_file import describe_frequency_file

    return describe_frequency_file(given)


def read_frequencies(given: Any, problems: list[str]) -> tuple[Any, list[str]]:
    """Read document frequencies. Returns them with their problems; `problems` are the other problems of the recipe.

    Raises:
        DataError, MissingExtra: the file is damaged or a package is missing, and the recipe has no other problem.
    """
    if given is None or isinstance(given, StoredPart):
        return given, []
    try:
        return document_frequencies(given), []
    except NeardupError as problem:
        if not problems and not isinstance(problem, InputError):
            raise
        return given, [str(problem).rstrip(".")]
