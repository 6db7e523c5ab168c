"""spaCy, one component at a time."""
