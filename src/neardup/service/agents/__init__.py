"""Tools of a store for agents, over the Model Context Protocol: on standard input and output, or over HTTP on this machine."""
