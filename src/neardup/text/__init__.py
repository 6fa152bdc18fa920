"""TEXT: NORMALIZE → SEGMENT or TOKENIZE; and texts in columns, frames, pages and units, or side by side.

In: texts, as Arrow arrays or in the containers that users hold them in. Out: normalized bytes, and tokens as joined buffers.
The Unicode tables are part of a recipe's version: they change only with a new version.
May import: every layer below it: kernels, recipe, resources, options, progress.
"""
