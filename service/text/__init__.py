"""Text and its units: tokens, sentences, spans, word features, corpus files."""
