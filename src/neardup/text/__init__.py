"""TEXT: NORMALIZE → SEGMENT or TOKENIZE; and texts in columns, frames, pages and units.

In: texts, as Arrow arrays or in what people hold them in. Out: normalized bytes, tokens as joined buffers.
The Unicode tables are part of a recipe's version: they change with a new version only.
May import: what is below: kernels, recipe, resources, options, progress.
"""
