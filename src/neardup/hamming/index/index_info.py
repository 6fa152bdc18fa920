"""Gather the facts that an index reports about itself."""

from neardup.hamming.index.answers import IndexInfo
from neardup.hamming.index.contents import Contents
from neardup.hamming.index.files.stored_recipe import StoredRecipe, damaged_copies


def index_info(contents: Contents, recipe: StoredRecipe | None, *, verify: bool) -> IndexInfo:
    """See `neardup.Index.info`."""
    search, made, searched = contents.search, contents.documents.made, contents.documents.listed()
    damaged, copies = None, {}
    if verify:
        stored = [segment for part in contents.parts for segment in part.made]
        damaged = {name: pages for segment in stored for name, pages in segment.damaged_pages().items()}
        copies = damaged_copies(recipe)
    return IndexInfo(
        documents=len(contents.documents),
        short=0 if contents.short is None else len(contents.short.documents),
        removed=sum(len(segment) - segment.live for segment in searched),
        bits=search.bits,
        max_distance=search.max_distance,
        method=search.method,
        is_exact=search.is_exact,
        options=tuple(segment.options for segment in made),
        segments=tuple(len(segment) for segment in searched),
        nbytes=sum(segment.nbytes for segment in searched),
        recipe=None if recipe is None else recipe.digest,
        recipe_fields=None if recipe is None else recipe.facts,
        ids=None if contents.strings is None else "strings" if contents.strings else "integers",
        damaged=None if damaged is None else damaged | copies,
        hit_probability=0.0 if damaged else contents.documents.hit_probability(search.max_distance),
        methods=tuple(segment.method for segment in made),
    )
