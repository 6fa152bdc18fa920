"""DECIDE: what a store says of new documents, one module for each way of keeping."""
