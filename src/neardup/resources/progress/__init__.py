"""PROGRESS: the stages of a run, and how they are shown: lines, a moving line, an element, calls."""
