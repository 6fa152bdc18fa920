"""Runs of a job on Ray on the documents of a corpus, and the answer of one machine."""

from functools import partial

from engines import cluster_runs

RUNS = cluster_runs.RayRuns()
run, survivors, check = (partial(each, RUNS) for each in (cluster_runs.run, cluster_runs.survivors, cluster_runs.check))
