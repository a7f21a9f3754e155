"""Kept stores, and what is written from them."""
