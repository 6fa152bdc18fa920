"""CONVERSION: rows of one format written as another, by the ending of the output: which can be, their values, and the sink."""
