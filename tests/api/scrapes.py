"""What `/metrics` says, by name and labels."""

from collections.abc import Callable

from prometheus_client.parser import text_string_to_metric_families

Sample = tuple[str, frozenset[tuple[str, str]]]


class Scrape:
    """One answer of `/metrics`."""

    def __init__(self, text: str) -> None:
        self.samples: dict[Sample, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self.samples
                self.samples[key] = sample.value

    def __call__(self, name: str, **labels: str) -> float:
        """The value of a series, whose labels are all given."""
        return self.samples[name, frozenset(labels.items())]

    def total(self, name: str, **labels: str) -> float:
        """The sum of the series that have these labels, among others."""
        wanted = set(labels.items())
        return sum(v for (n, of), v in self.samples.items() if n == name and wanted <= of)


def increase(scrape: Callable[[], Scrape], act: Callable[[], object]) -> "Increase":
    """What an action adds to the series."""
    before = scrape()
    act()
    return Increase(before, scrape())


class Increase:
    """The difference of two scrapes."""

    def __init__(self, before: Scrape, after: Scrape) -> None:
        self._before = before
        self._after = after

    def __call__(self, name: str, **labels: str) -> float:
        """How much the series that have these labels, among others, have grown together."""
        return self._after.total(name, **labels) - self._before.total(name, **labels)

    @property
    def new_series(self) -> set[Sample]:
        return set(self._after.samples) - set(self._before.samples)
