"""CHECKS of inputs before and while they are read: columns, encodings, and files that hold something other than texts."""
