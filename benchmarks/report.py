"""The results as Markdown: a section for each part that was measured."""

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.targets import TARGETS, Results

Cells = Sequence[object]


def render(results: Results, command: str, date: str) -> str:
    """The whole report.

    Parameters
    ----------
    results : of each part, by its name; a part may be a string that says why it was skipped.
    command : that was run.
    date : of the run.
    """
    sections = [_head(results, command, date), _input(results)]
    for part, (title, body) in _SECTIONS.items():
        if part in results:
            skipped = isinstance(results[part], str)
            sections.append(f"## {title}\n\n{results[part] if skipped else body(results)}")
    sections.append(_targets(results))
    return "\n\n".join(sections) + "\n"


def table(headers: Cells, rows: Iterable[Cells]) -> str:
    """A Markdown table; all columns but the first are figures."""
    lines = [headers, ["---"] + ["---:"] * (len(headers) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def figures(found: Any, *columns: tuple[str, int]) -> list[str]:
    """Cells of a row: figures of so many decimals, blank where one is missing; or why none is."""
    if isinstance(found, str):
        return [found] + [""] * (len(columns) - 1)
    return [f"{found[name]:,.{decimals}f}" if name in found else "" for name, decimals in columns]


def machine() -> dict[str, str]:
    """What it was measured on."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    return {
        "processor": cpu[1] if cpu else platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{int(memory[1]) * 1024 / 1e9:.0f} GB" if memory else "unknown",
        "system": f"{platform.system()} {platform.release()}",
    }


def _head(results: Results, command: str, date: str) -> str:
    facts = machine() | results["versions"]
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return (
        f"# Measured\n\nWritten by `{command}` on {date}; [README.md](README.md) says how.\n\n"
        f"{listed}\n- load of the machine at the start: {results['load']:.1f}"
    )


def _input(results: Results) -> str:
    about = results["about"]["sets"]
    models = list(next(iter(about.values()))["unseen"])
    rows = [
        [name, f"{of['texts']:,}", f"{of['tokens']:,}"]
        + [f"{100 * of['unseen'][model]:.1f} %" for model in models]
        for name, of in about.items()
    ]
    note = (
        "`made` is text made of the words of our own models, since no DATA was given: words come "
        "as often as in text, but in no order, and the peers that train were trained on such text "
        "with our models' tags."
        if "made" in about
        else "`sentences` are those of the test sets of UD English-EWT and GUM (open genres), "
        "`plain` consecutive ones of books and speeches; of our models, en-ner-elmo and en-pos-crf "
        "have read such text, without gold tags. Each sentence is a document. The CRFs of "
        "python-crfsuite and NLTK's tagger were trained on the training sets of EWT, for names "
        "and for Penn tags."
    )
    heads = ["text", "texts", "tokens", *[f"not in the table of {model}" for model in models]]
    return f"## Text\n\n{table(heads, rows)}\n\n{note}"


def _batch(results: Results) -> str:
    parts = [
        "All programs go from raw text to tags, or spans with their places, each with its own "
        "tokenizer. A token is one of Trellis' tokenizer for all of them, so ratios of rates "
        "are ratios of time on the same text. `first pass` is before caches are filled and "
        "compilers have warmed up; `found` counts the tags or spans that came out."
    ]
    columns = (("cpu", 0), ("wall", 0), ("cold", 0), ("found", 0))
    for texts, programs in results["batch"].items():
        heads = [f"`{texts}`, tokens per", "CPU second", "second", "CPU second, first pass"]
        rows = [[name, *figures(found, *columns)] for name, found in programs.items()]
        parts.append(table([*heads, "found"], rows))
    return "\n\n".join(parts)


def _single(results: Results) -> str:
    rows = [[n, *figures(f, ("p50", 0), ("p99", 0))] for n, f in results["single"].items()]
    return table(["microseconds for a text", "p50", "p99"], rows)


def _stages(results: Results) -> str:
    stages = results["stages"]
    names = list(next(iter(stages.values())))
    rows = [[m, *figures(of, *((n, 2) for n in names))] for m, of in stages.items()]
    return table(["CPU microseconds a token", *names], rows)


def _request(results: Results) -> str:
    tokens, requests = results["about"]["tokens"], results["request"]
    heads = [
        "CPU microseconds",
        f"`/ner`, a text of {tokens['request']} tokens",
        f"`/ner/batch`, 32 texts of {tokens['batch_request']} in all",
    ]
    note = (
        "Requests to en-ner-crf in process, below the server and without HTTP. Stages that run "
        "apart take a little longer than in the whole."
    )
    return f"{note}\n\n{table(heads, _side_by_side(requests, 0))}"


def _options(results: Results) -> str:
    prices = results["options"]
    note = (
        "Batches of up to 200 tokens, from the body of a request to that of its answer, by what "
        "is asked for; `none` is the plain answer. There is one constraint a text, and the "
        "dictionary has the first two words of every text."
    )
    heads = ["CPU microseconds a token", *prices]
    return f"{note}\n\n{table(heads, _side_by_side(prices, 1))}"


def _side_by_side(columns: Mapping[str, Mapping[str, float]], decimals: int) -> list[Cells]:
    """A row for each name that a column has a figure of."""
    names = dict.fromkeys(name for of in columns.values() for name in of)
    return [
        [name, *[figures(of, (name, decimals))[0] for of in columns.values()]] for name in names
    ]


def _monitoring(results: Results) -> str:
    found = results["monitoring"]
    note = (
        f"One text of {results['about']['tokens']['request']} tokens to en-ner-crf, in process, "
        "with metrics and the log line or without."
    )
    row = ["CPU microseconds a request", *figures(found, *((name, 0) for name in found))]
    return f"{note}\n\n{table(['', *found], [row])}"


def _http(results: Results) -> str:
    parts = []
    columns = (("per_s", 0), ("p50_us", 0), ("p99_us", 0), ("errors", 0))
    for path, by_connections in results["http"].items():
        rows = [
            [name, connections, *figures(found, *columns)]
            for connections, servers in by_connections.items()
            for name, found in servers.items()
        ]
        heads = [f"`{path}`", "connections", "requests a second", "p50, us", "p99, us", "errors"]
        parts.append(table(heads, rows))
    tokens = results["about"]["tokens"]
    parts.append(
        f"`/ner` has one text of {tokens['request']} tokens, `/ner/batch` 32 texts of "
        f"{tokens['batch_request']} in all. wrk runs on the same cores as the servers."
    )
    return "\n\n".join(parts)


def _footprint(results: Results) -> str:
    found = figures(results["footprint"], ("start_s", 2), ("pss_mb", 1))
    return table(["", "start to ready, s", "PSS of a worker, MB"], [["Trellis", *found]])


def _growth(results: Results) -> str:
    return "\n\n".join(
        table(
            [f"{name}", *[f"{size:,}" for size, _ in rows]],
            [["CPU microseconds a token", *[f"{us:.2f}" for _, us in rows]]],
        )
        for name, rows in results["growth"].items()
    )


def _long(results: Results) -> str:
    columns = (("seconds", 2), ("growth_mb", 0), ("probes", 0), ("slowest_probe_ms", 0))
    heads = ["characters, one sentence", "seconds", "growth of the peak of memory, MB"]
    heads += ["answers of `/livez` meanwhile", "slowest, ms"]
    return table(heads, ([f"{of['chars']:,}", *figures(of, *columns)] for of in results["long"]))


def _targets(results: Results) -> str:
    rows = [[target.statement, *target.judge(results)] for target in TARGETS]
    first = next(iter(results["about"]["sets"]))
    note = f"The text is `{first}`, of which some sentences come one at a time."
    return f"## To reach\n\n{note}\n\n{table(['target', 'measured', ''], rows)}"


_SECTIONS: Mapping[str, Any] = {
    "batch": ("Batches", _batch),
    "single": ("One text at a time", _single),
    "stages": ("Where the time goes", _stages),
    "request": ("Where the time of a request goes", _request),
    "options": ("What options cost", _options),
    "monitoring": ("What metrics and log cost", _monitoring),
    "http": ("HTTP", _http),
    "footprint": ("Start and memory", _footprint),
    "growth": ("How cost grows", _growth),
    "long": ("Long texts", _long),
}
PARTS = tuple(_SECTIONS)
