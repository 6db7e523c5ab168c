"""The page of the command line, from the commands themselves."""

import inspect
from collections.abc import Iterator

import click

from service.cli import main

_BLOCK = "\b\n"  # click's mark of a paragraph that keeps its lines


def commands_reference() -> str:
    """Each command: what it does, its usage, its options and its examples."""
    return "\n\n".join(_of_command(main, None))


def _of_command(command: click.Command, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, parent, info_name=command.name if parent else "trellis")
    if parent:
        yield f"## `{context.command_path}`"
    yield from _paragraphs(command.help or "")
    pieces = [context.command_path, *command.collect_usage_pieces(context)]
    yield f"    {' '.join(pieces)}"
    if options := [p for p in command.params if isinstance(p, click.Option)]:
        yield "\n".join(["| option | meaning |", "| --- | --- |", *map(_row, options)])
    yield from _paragraphs(command.epilog or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            if part is not None and not part.hidden:
                yield from _of_command(part, context)


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {_value(option)}"
    default = f" Default: `{option.default}`." if option.show_default is True else ""
    needed = " Needed." if option.required else ""
    return f"| {names}{value} | {option.help or ''}{needed}{default} |"


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    if isinstance(option.type, click.IntRange):
        return f"{option.type.min} to {option.type.max}"
    return option.metavar or option.type.name.upper()


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs as Markdown; one that keeps its lines has the first as its title."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith(_BLOCK):
            title, *lines = paragraph.removeprefix(_BLOCK).splitlines()
            yield title
            yield "\n".join(f"    {line.removeprefix('  ')}" for line in lines)
        elif paragraph.strip():
            yield " ".join(paragraph.split())
