"""The benchmark of the backward: a C++ program, the whole measurement of a card, and its page."""
