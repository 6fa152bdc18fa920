"""REVIEW: pairs to judge, and what people said of them."""
