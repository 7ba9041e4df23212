"""Builds hip_ext for AMD's GPUs without one, and inspects what came out. Nothing of it is run."""
