"""One corpus, one set of options, and any number of runners, which must all give the same survivors, clusters and audit."""
