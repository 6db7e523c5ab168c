"""The few neural layers: forward passes as plain functions over packed arrays, in NumPy."""
