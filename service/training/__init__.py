"""Offline: corpora, fitting each tagger, evaluation, model cards. Never imported by the service."""
