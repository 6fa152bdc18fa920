"""What is told of repeated passages: the log of cuts, the list of what is repeated, the counts, and the result in memory."""
