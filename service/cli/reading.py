"""Tagged texts for people: as textbooks print them, and in a terminal also in colour."""

import click

from service.annotation import Annotation
from service.text.spans import span_states

_SPAN_COLOURS = ("cyan", "yellow", "green", "magenta", "blue", "red")
_TAG_COLOUR = "cyan"

# A terminal obeys control characters; these show instead. Line feeds and tabs are meant.
_VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_VISIBLE |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def visible(text: str) -> str:
    """A text that cannot move the cursor of a terminal; every character stays where it is."""
    return text.replace("\r\n", " \n").translate(_VISIBLE)


def with_entities(text: str, annotation: Annotation, *, colour: bool) -> str:
    """A text with its entities in brackets, their labels first: ``[PER Jane Villanueva]``.

    Parameters
    ----------
    text : what the tokens of `annotation` come from.
    annotation : with spans.
    colour : whether the brackets also have the colour of their label.
    """
    places = _places(annotation)
    colours = _colours(annotation.labels)
    parts, done = [], 0
    for span in annotation.spans:
        start, end = places[span.token_start][0], places[span.token_end - 1][1]
        entity = f"[{span.label} {text[start:end]}]"
        if colour:
            entity = click.style(entity, fg="black", bg=colours[span.label])
        parts += [text[done:start], entity]
        done = end
    parts.append(text[done:])
    shown = "".join(parts)
    return shown if shown.endswith("\n") or not shown else f"{shown}\n"


def with_tags(text: str, annotation: Annotation, *, colour: bool) -> str:
    """Sentences, each in a line of words and their tags: ``the/DT bill/NN``.

    Parameters
    ----------
    text : what the tokens of `annotation` come from.
    colour : whether tags are coloured.
    """
    words = [
        text[start:end] + (click.style(f"/{tag}", fg=_TAG_COLOUR) if colour else f"/{tag}")
        for (start, end), tag in zip(_places(annotation), annotation.tags, strict=True)
    ]
    return "".join(f"{' '.join(words[first:end])}\n" for first, end in annotation.sentences)


def _places(annotation: Annotation) -> list[tuple[int, int]]:
    """Where each of the M tokens starts and ends in the text."""
    if annotation.places is None:
        raise ValueError("expected tokens of a text, found tokens without one")
    return list(zip(*annotation.places, strict=True))


def _colours(labels: tuple[str, ...]) -> dict[str, str]:
    """A colour for each label of spans; the same for a model, whatever the text."""
    names = sorted(set(span_states(labels).names) - {""})
    return {name: _SPAN_COLOURS[i % len(_SPAN_COLOURS)] for i, name in enumerate(names)}
