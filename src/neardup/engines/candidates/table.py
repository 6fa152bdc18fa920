"""The methods of finding candidates on an engine, by their names."""

from neardup.engines.candidates.exact import EXACT
from neardup.engines.candidates.method import Method
from neardup.engines.candidates.minhash import MINHASH
from neardup.engines.candidates.simhash import SIMHASH

METHODS: dict[str, Method] = {"exact": EXACT, "minhash": MINHASH, "simhash": SIMHASH}
