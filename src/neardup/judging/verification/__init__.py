"""VERIFY: prove a finished run from its inputs, its output and its audit; everything that they state is computed again."""
