"""A small module with the functions of cupti-python that a capture uses; no GPU is involved."""
