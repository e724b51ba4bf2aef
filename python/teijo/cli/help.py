"""The help pages: how a verb is written, what it does, its arguments and options, examples."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import typer
import typer.core

from teijo.cli import console, layout
from teijo.cli.mistakes import Program as Mistaken
from teijo.cli.mistakes import argument_word, option_value, usage
from teijo.report.width import columns_of, padded, wrapped
from teijo.speech.tongue import said, tr

MEANING_LEAST = 30
"""Columns that the meaning of an option needs; with fewer it is printed below the option."""


class Verb(typer.core.TyperCommand):
    """A verb whose help page is laid out here, and whose mistakes know that they are its own."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that prints the page."""
        return _printing(super().get_help_option(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words behind the verb.

        Raises:
            TyperException: they cannot be read; its `ctx` is this verb's.
        """
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if getattr(error, "ctx", None) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise

    def get_help(self, ctx: Any) -> str:
        """Return the help page."""
        return page(ctx)


class Program(Mistaken):
    """The program, whose help page is laid out here."""

    def get_help(self, ctx: Any) -> str:
        """Return the help page."""
        return page(ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that prints the page."""
        return _printing(super().get_help_option(ctx))


def _printing(option: Any) -> Any:
    """Return the option of help with the page printed as all data is."""
    if option is not None:
        option.callback = _print_page
    return option


def _print_page(context: Any, parameter: Any, asked: bool) -> None:
    del parameter
    if asked and not context.resilient_parsing:
        console.put_lines(context.get_help())
        context.exit()


def page(context: Any) -> str:
    """Return the help page of a command, as wide as its terminal and no wider than is read."""
    width = context.terminal_width or layout.WIDEST
    command = context.command
    parts = [_usage(context, width), *_prose(command.help or "", width)]
    parts += _section(tr("Arguments:"), list(_arguments(command)), width)
    parts += _section(tr("Options:"), list(_options(context)), width)
    if isinstance(command, typer.core.TyperGroup):
        rows = [(name, _first_sentence(verb.help or "")) for name, verb in command.commands.items()]
        parts += _section(tr("Verbs:"), rows, width)
    if command.epilog:
        examples = (f"  {line}" for line in command.epilog.splitlines())
        parts += ["", tr("Examples:"), *examples]
    return "\n".join(parts)


def _usage(context: Any, width: int) -> str:
    words = usage(context)
    if isinstance(context.command, typer.core.TyperGroup):
        words = f"{context.command_path} VERB …"
    return "\n".join(wrapped(tr("Usage: {words}", words=words), width))


def _prose(text: str, width: int) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield ""
        yield from wrapped(said(" ".join(paragraph.split())), width - 2, indent="  ")


def _first_sentence(text: str) -> str:
    first = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    return said(first)


def _arguments(command: Any) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield argument_word(parameter), said(parameter.help or "")


def _options(context: Any) -> Iterator[tuple[str, str]]:
    for parameter in context.command.get_params(context):
        if parameter.param_type_name != "option" or getattr(parameter, "hidden", False):
            continue
        names = ", ".join(sorted(parameter.opts, key=len))
        meaning = tr("Show this page.") if parameter.name == "help" else said(parameter.help or "")
        yield f"{names} {option_value(parameter)}".rstrip(), meaning + _default(parameter)


def _default(parameter: Any) -> str:
    value = parameter.default
    if getattr(parameter, "is_flag", False) or value in (None, "", ()) or callable(value):
        return ""
    shown = str(getattr(value, "value", value))
    return tr(" [default: {shown}]", shown=shown)


def _section(title: str, rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return a titled list: names at the left, what they mean beside them or below."""
    if not rows:
        return []
    named = max(columns_of(name) for name, _ in rows)
    beside = width - named - 4 >= MEANING_LEAST
    if not beside:
        named = min(named, 6)
    indent = " " * (named + 4)
    lines = ["", title]
    for name, meaning in rows:
        wrapped_meaning = list(wrapped(meaning, width, indent=indent))
        if beside and wrapped_meaning:
            lines += [
                f"  {padded(name, named)}  {wrapped_meaning[0].lstrip()}",
                *wrapped_meaning[1:],
            ]
        else:
            lines += [f"  {name}", *wrapped_meaning]
    return lines
