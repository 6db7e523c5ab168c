"""python-crfsuite behind regular-expression tokens, as its tutorials have it, and tuned."""
