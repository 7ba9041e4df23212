"""Make traces. Each file is one way to capture; all end in files that `overlap_lab.load` reads."""
