"""Write what programs make of the docs; with --answers also what commands on the pages answer."""

import argparse
import tempfile
from pathlib import Path

from documentation.answers import shown
from documentation.made import made_files
from documentation.pages import followed_pages
from documentation.reading import environment, followed, serving


def main() -> None:
    """The command line: ``python -m documentation``."""
    parser = argparse.ArgumentParser(prog="python -m documentation", description=__doc__)
    parser.add_argument(
        "--answers", action="store_true", help="run the commands of the pages, and write answers"
    )
    with_answers: bool = parser.parse_args().answers
    for path, text in made_files().items():
        path.write_text(text, encoding="utf-8")
    if with_answers:
        _write_answers()


def _write_answers() -> None:
    with (
        tempfile.TemporaryDirectory() as log,
        serving("trellis serve", Path(log), environment()) as port,
    ):
        for path in followed_pages():
            page = path.read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as folder:
                steps = list(followed(page, Path(folder), port))
            for _, answer, printed in reversed(steps):
                if answer:
                    page = page[: answer.start] + shown(answer.kind, printed) + page[answer.end :]
            path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
