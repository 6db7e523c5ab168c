"""Trellis measured beside what people would use instead: `make bench`."""
