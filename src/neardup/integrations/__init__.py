"""INTEGRATIONS: thin stages for other pipelines, one module for each; none has an algorithm of its own.

In: what the pipeline hands on. Out: the same, without near-duplicates. A module imports its pipeline, which is no extra of this
package; the version that it was tested with is its `TESTED`.

May import: jobs, engines, and what is below.
"""
