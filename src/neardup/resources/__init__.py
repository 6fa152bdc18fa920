"""RESOURCES: the threads, memory and temporary files that a run may use; its stages with their time, and the displays of these.

In: threads, memory and a folder, as the caller gives them. Out: work on threads with results in order; arrays, numbers and pairs
that move to temporary files once they exceed their share.
`Resources` is passed as one object; `resources.py` names every share of the memory.
May import: errors, arrays, display, kernels, recipe.
"""
