"""RESOURCES: what a run may take of the machine.

In: threads, memory and a folder as people give them. Out: work on threads with results in order; arrays, numbers and pairs that
move to temporary files once they take more than their share.
`Resources` is passed whole; every share of the memory is named in `resources.py`.
May import: errors, arrays, display, kernels, recipe.
"""
