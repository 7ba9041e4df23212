"""Speed and memory of overlap_lab, measured in pairs against what else reads the same files: `make bench`."""
