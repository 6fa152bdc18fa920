"""TABLES of the names that a recipe and its options may use, with every property that other modules need."""
