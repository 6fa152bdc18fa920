"""What calls can do wrong, as a table: bad arguments and bad data; and what one process, and a harness of an engine, say of each."""

import contextlib
import re
from typing import NamedTuple

import pyarrow as pa

import neardup as nd
from neardup.engines.flow import deduplicate
from neardup.engines.frontend import Frontend, Given
from neardup.engines.job.cluster_job import ClusterJob
from neardup.engines.job.inputs import Documents
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.job.own_folder import OwnFolder
from neardup.engines.job.refusals import demand_columns, demand_order
from neardup.engines.ray.job import WORDS
from neardup.engines.reading.text_columns import texts_in
from neardup.engines.reading.unique_ids import demand_ids
from neardup.engines.stages import Part
from neardup.errors import OptionError

TEXT = "one of the texts that many pages have in common with others"
NAMED = {"id": pa.array(["a", "b"]), "text": pa.array([TEXT, f"{TEXT} x"]), "n": pa.array([0, 1])}
LISTS = pa.array([[1], [2]], pa.list_(pa.field("element", pa.int64())))
STRUCTS = pa.array([{"x": 1}, {"x": 2}])
BYTES = pa.array([b"x", b"y"])


class Case(NamedTuple):
    """A call.

    Attributes:
        columns: instead of those of NAMED, or besides; None for no such column.
        options: of the call.
        reference: columns of a reference, likewise; None for no reference.
        engines_alone: whether one process does what engines refuse.
    """

    columns: dict
    options: dict
    reference: dict | None = None
    engines_alone: bool = False


def alone(columns=None, **options):
    return Case(columns or {}, options, engines_alone=True)


def columns(**columns):
    return Case(columns, {})


def option(**options):
    return Case({}, options)


ARGUMENTS = {
    "no column of texts": option(text="body"),
    "no column of ids": option(id="name"),
    "no column of within": option(within="site"),
    "no column of keep": option(keep="max:score"),
    "no column of within in the reference": Case({"v": pa.array([1, 2])}, {"within": "v"}, {}),
    "texts are integers": option(text="n"),
    "texts are lists of strings": columns(text=pa.array([["x"], ["y"]], pa.list_(pa.field("element", pa.string())))),
    "texts are structs": columns(text=pa.array([{"body": "x"}, {"body": "y"}])),
    "texts are bytes": columns(text=BYTES),
    "ids are floats": columns(id=pa.array([1.0, 2.0])),
    "ids are lists": columns(id=LISTS),
    "ids are dates": columns(id=pa.array([1, 2], pa.int32()).cast(pa.date32())),
    **{
        f"values of {name} are {what}": Case({"v": column}, {name: value})
        for name, value in (("within", "v"), ("keep", "max:v"))
        for what, column in (("lists", LISTS), ("structs", STRUCTS), ("bytes", BYTES))
    },
    "a method that does not exist": option(method="exakt"),
    "a similarity of percent": option(min_similarity=80),
    "a similarity that does not exist": option(similarity="jacard"),
    "a rule that does not exist": option(keep="best"),
    "a rule without a column": option(keep="max:"),
    "a cluster that does not exist": option(cluster="stars"),
    "a distance below 0": option(max_distance=-1),
    "an option that does not exist": option(min_similarty=0.7),
    "a recipe that does not exist": option(recipe="defualt"),
    "no order of a method": option(method="minhash", similarity="edit"),
    "no method": alone(method="auto"),
    "several columns of texts": alone(text=["text", "id"]),
    "a function": alone(keep=len),
    "a group by a function": alone(within=len),
    "sources": alone(prefer_source="web"),
    "elements": alone(elements="text"),
    "pages": alone(html="text"),
    "threads": alone(threads=2),
    "memory": alone(memory="1G"),
}
"""No row is read to refuse them."""
DATA = {
    "a null text": columns(text=pa.array([TEXT, None])),
    "all texts null": columns(text=pa.array([None, None], pa.string())),
    "numbers and words": Case({"v": pa.array(["12", "many"])}, {"keep": "max:v"}),
    "dates and words": Case({"v": pa.array(["2024-01-31", "soon"])}, {"keep": "min:v"}),
    "a null id": alone({"id": pa.array(["a", None])}),
    "an id twice": alone({"id": pa.array(["a", "a"])}),
}
ROWS = {"nothing": None, "a string": "pages.parquet", "a number": 7}
"""What holds no rows."""


def table_of(columns):
    return pa.table({name: column for name, column in (NAMED | columns).items() if column is not None})


def in_one_process(rows, against, options):
    nd.deduplicate(rows, against=against, **({"method": "exact", "id": "id"} | options))


class TableFrontend(Frontend):
    """The checks of engines, for tables in memory."""

    documents, words, job = Documents, WORDS, ClusterJob

    def translated_errors(self):
        return contextlib.nullcontext()

    def demand_rows(self, rows, called):
        if not isinstance(rows, pa.Table):
            raise OptionError(f"{called} is a {type(rows).__name__}; give a table.")

    def demand_columns(self, rows, wanted):
        demand_columns(rows.column_names, wanted)

    def columns(self, rows):
        return {field.name: field.type for field in rows.schema}

    def demand_order(self, documents):
        for name in documents.order:
            demand_order(name, documents.rows.schema.field(name).type, has_order=True)

    def demand_files(self, documents): ...

    def own_folder(self, rows):
        return OwnFolder("/nowhere")


def in_the_harness(folder, rows, against, options):
    """The ids of the documents that the engine of one process removes, which reads and checks as engines on clusters do."""
    frontend = TableFrontend()
    text, name, recipe = (options.get(key, usual) for key, usual in (("text", "text"), ("id", "id"), ("recipe", None)))
    rest = {key: value for key, value in options.items() if key not in ("text", "id", "recipe")}
    work = frontend.work_of(text, recipe, rest, nd.deduplicate)
    given = frontend.input_of(work, Given(rows, text, name, "n", against))

    def parts():
        for each in given.sources:
            columns = {"text": each.text, "id": each.id, "within": each.within, "value": each.value}
            yield Part(each.first, iter([texts_in(each.rows, columns, "A table", "Decode it.")]), each.is_reference)

    engine = SerialEngine(folder, parts)
    demand_ids(engine, name)
    return sorted(engine.collect(deduplicate(engine, work).results).column("id").to_pylist())


def told_by(run, *given):
    """The type and the text of the error that a call raises, without what each engine calls its own."""
    try:
        run(*given)
    except nd.NeardupError as problem:
        return type(problem).__name__, plain(str(problem))
    return None


def plain(text):
    """A text in words that all share: where a row is, and what holds rows, each tells in its own."""
    text = re.sub(r"Text \d+ of the column '\w+' is|The text of document '\w+' is", "A text is", text)
    text = re.sub(r' \((?:row \d+(?:, id "?\w+"?)?|id "?\w+"?)\)', "", text)
    text = re.sub(r"^(?:data|df|dataset) is a (\w+); give .*", r"data is a \1", text)
    text = re.sub(r"^data is one (\w+); give .*", r"data is a \1", text)
    text = re.sub(r"On (Spark|Ray), (`\w+`) is not taken\. .*", r"On an engine, \2 is not taken.", text)
    text = re.sub(r"texts are in one column\. .*", "texts are in one column.", text)
    return re.sub(r"\b(?:Spark|Ray)\b", "an engine", re.sub(r"\b(frame|dataset)\b", "rows", text))
