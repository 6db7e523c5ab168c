"""Trellis: a sequence-tagging microservice.

The path of a request is `service.pipeline`; everything else is one step of it.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("trellis-tagger")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0.0.0+checkout"
