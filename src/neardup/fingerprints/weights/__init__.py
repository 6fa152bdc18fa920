"""WEIGH: a family of weights behind one table, in `table.py`; each computes the weight of every feature of some texts."""
