"""READ: parts of the input become documents with places and ids, in the order of preference."""
