"""A command line that cannot be read: what is wrong with it and what to write, in our own words.

Typer's exceptions say which parameter it was; nothing that they say themselves is shown.
"""

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import typer
import typer.core

from teijo.cli.options import meant

_EXTRA = re.compile(r"\(s\) \((.*)\)", re.DOTALL)


class Program(typer.core.TyperGroup):
    """The verbs of the program."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is asked for.

        Raises:
            NoSuchVerb: there is none of this name.
        """
        name = args[0]
        both = " ".join(args[:2])
        if len(args) > 1 and both in self.commands:
            return super().resolve_command(ctx, [both, *args[2:]])
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise NoSuchVerb(name, list(self.commands))
        return super().resolve_command(ctx, args)


def verb_of(words: Sequence[str], verbs: Iterable[str]) -> str:
    """Return the first verb among words, one of two words where they are one; "" for none."""
    known = set(verbs)
    for at, word in enumerate(words):
        both = " ".join(words[at : at + 2])
        if both in known or word in known:
            return both if both in known else word
    return ""


class NoSuchVerb(typer.TyperException):
    """The first word is no verb."""

    exit_code = 2

    def __init__(self, given: str, verbs: list[str]) -> None:
        """Remember the word, and the verbs there are."""
        super().__init__(given)
        self.given = given
        self.verbs = verbs


def explained(error: typer.TyperException) -> tuple[str, str]:
    """Return what is wrong with a command line, and what to do about it."""
    if isinstance(error, NoSuchVerb):
        return _no_such_verb(error)
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "teijo"
    help_line = f"See: {path} -h"
    # By name, for Typer exports its base class alone.
    match type(error).__name__:
        case "MissingParameter":
            return f"{_name(error)} is missing", f"Write: {usage(context)}"
        case "NoSuchOption":
            return _no_such_option(error, path, help_line)
        case "BadOptionUsage":
            option = str(getattr(error, "option_name", ""))
            if "does not take" in error.message:
                return f"{option} takes no value", f"Write it alone: {option}"
            return f"{option} needs a value", _write_option(context, option) or help_line
        case "BadParameter":
            return _bad_value(error)
        case _:
            return _misread(error, path, context, help_line)


def _misread(error: Any, path: str, context: Any, help_line: str) -> tuple[str, str]:
    extra = _EXTRA.search(error.message)
    if "extra argument" in error.message and extra is not None:
        word = extra[1].split(" ", 1)[0]
        return f"{path} takes no {word!r} at this place", f"Write: {usage(context)}"
    if "Missing command" in error.message:
        return "What to do is missing", "Name a verb: teijo -h lists them."
    return "This command line cannot be read", help_line


def usage(context: Any) -> str:
    """Return how a verb is written: its arguments, and that it takes options."""
    if context is None:
        return "teijo VERB …"
    words = [context.command_path]
    for parameter in context.command.params:
        if parameter.param_type_name == "argument":
            words.append(argument_word(parameter))
    if any(each.param_type_name == "option" for each in context.command.params):
        words.append("[OPTIONS]")
    return " ".join(words)


def argument_word(parameter: Any) -> str:
    """Return an argument as usage shows it: METHOD, [METHOD], FILE..., [KEY=VALUE...]."""
    bare = str(parameter.metavar or parameter.name).strip("[]").removesuffix("...")
    many = "..." if parameter.nargs == -1 else ""
    return f"{bare}{many}" if parameter.required else f"[{bare}{many}]"


def _no_such_verb(error: NoSuchVerb) -> tuple[str, str]:
    guess = meant(error.given, error.verbs)
    return f"teijo has no verb {error.given!r}{guess}", f"It has {', '.join(error.verbs)}."


def _no_such_option(error: Any, path: str, help_line: str) -> tuple[str, str]:
    known = [
        option
        for parameter in (error.ctx.command.params if error.ctx else ())
        if parameter.param_type_name == "option"
        for option in (*parameter.opts, *parameter.secondary_opts)
    ]
    given = error.option_name.lstrip("-")
    bare = {option.lstrip("-"): option for option in known}
    near = difflib.get_close_matches(given, bare, n=1, cutoff=0.7)
    guess = f"; did you mean {bare[near[0]]}?" if near else ""
    return f"{path} has no option {error.option_name}{guess}", help_line


def _bad_value(error: Any) -> tuple[str, str]:
    name, parameter = _name(error), error.param
    given = _given(error)
    shown = f"{name} {shlex.quote(given)}" if given else name
    descriptor = parameter.type_descriptor if parameter is not None else None
    if descriptor is not None and descriptor.choices is not None:
        choices = [str(getattr(one, "value", one)) for one in descriptor.choices]
        guess = meant(given, choices)
        return f"{shown}: it is none of {', '.join(choices)}{guess}", f"Write: {name} {choices[0]}"
    kinds: dict[Any, str] = {int: "a whole number", float: "a number", bool: "yes or no"}
    what = kinds.get(getattr(descriptor, "annotation", None), "a value it takes")
    wanted = f"{what}{_bounds(parameter)}"
    return f"{shown}: it is not {wanted}", f"Write {wanted}."


def _bounds(parameter: Any) -> str:
    info = getattr(getattr(parameter, "type_descriptor", None), "parameter_info", None)
    least, most = getattr(info, "min", None), getattr(info, "max", None)
    match least, most:
        case None, None:
            return ""
        case _, None:
            return f" of at least {least:g}"
        case None, _:
            return f" of at most {most:g}"
        case _:
            return f" from {least:g} to {most:g}"


def _given(error: Any) -> str:
    """Return the value that was refused, as it was written."""
    cause = error.__cause__
    try:
        return str(cause.errors()[0]["input"])
    except (AttributeError, IndexError, KeyError):
        return ""


def _name(error: Any) -> str:
    parameter = error.param
    if parameter is None:
        return "A value"
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return argument_word(parameter).strip("[]").removesuffix("...")


def _write_option(context: Any, option: str) -> str:
    for parameter in context.command.params if context is not None else ():
        if option in getattr(parameter, "opts", ()):
            return f"Write: {option} {option_value(parameter)}"
    return ""


def option_value(parameter: Any) -> str:
    """Return the word for an option's value in help: FILE, <en|ja>, or nothing for a flag."""
    if getattr(parameter, "is_flag", False):
        return ""
    if parameter.metavar:
        return str(parameter.metavar)
    descriptor = parameter.type_descriptor
    if descriptor.choices is not None:
        return "|".join(str(getattr(one, "value", one)) for one in descriptor.choices)
    return "N"
