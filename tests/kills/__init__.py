"""Runs that are killed (SIGKILL) at random moments, again and again, and then finished: they give what a run gives that was not killed."""
