"""Correctness: references, and the commands of AITER's own tests (mha, mha_varlen)."""
