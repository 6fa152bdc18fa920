"""Verification of finished runs."""
