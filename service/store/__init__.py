"""Model directories: what stands in them, loading them safely, and listing them."""
