"""Stages on tables of Arrow that find passages which stood earlier, and cut them: the answer of `survivors.repeats`."""
