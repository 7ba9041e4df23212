"""Measures: each is a function from a Context to measurements; `analyze` is who calls them."""
