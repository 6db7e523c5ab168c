"""`/metrics`: what all workers have counted, and which models are loaded, for Prometheus."""

from collections.abc import Iterator
from functools import partial

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from service import __version__
from service.api.monitoring.worker_files import open_folder, read_consistently
from service.store.registry import Registry

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Exposition:
    """The metrics as text.

    Parameters
    ----------
    registry : the models that are loaded.
    """

    def __init__(self, registry: Registry) -> None:
        self._models = CollectorRegistry()
        self._models.register(_Models(registry))
        self._counted = CollectorRegistry()
        MultiProcessCollector(self._counted, path=str(open_folder()))

    def text(self) -> bytes:
        """All metrics, in the format of the media type `MEDIA_TYPE`."""
        counted = read_consistently(partial(generate_latest, self._counted))
        return counted + generate_latest(self._models)


class _Models(Collector):
    """Says which models are loaded: the same in every worker, so it need not be counted."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[GaugeMetricFamily]:
        service = GaugeMetricFamily(
            "trellis_info", "The version of the service.", labels=["version"]
        )
        service.add_metric([__version__], 1)
        info = GaugeMetricFamily(
            "trellis_model_info",
            "The models that are loaded.",
            labels=["model", "version", "task", "architecture"],
        )
        load = GaugeMetricFamily(
            "trellis_model_load_seconds", "Time that loading a model took.", labels=["model"]
        )
        for name, model in self._registry.loaded.items():
            manifest = model.manifest
            info.add_metric([name, manifest.version, manifest.task, manifest.architecture], 1)
            load.add_metric([name], model.load_s)
        yield from (service, info, load)
