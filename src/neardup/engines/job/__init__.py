"""A JOB: options, input and checkpoint of a run, its folder and outputs, and the engine of one process."""
