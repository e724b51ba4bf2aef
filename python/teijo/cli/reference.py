"""The page docs/reference/cli.md, made from the program itself. `make docs` writes it."""

import typer
import typer.core
import typer.main

from teijo.cli.app import app

OPENING = """\
# The command line

Generated from the program by `make docs`; a test checks that it is current.
"""


def _program() -> typer.core.TyperGroup:
    command = typer.main.get_command(app)
    assert isinstance(command, typer.core.TyperGroup)
    return command


def verbs() -> list[str]:
    """Return the verbs in the order help shows them."""
    return list(_program().commands)


def options(verb: str) -> set[str]:
    """Return every option a verb takes, long and short."""
    taken = {"-h", "--help"}
    for parameter in _program().commands[verb].params:
        if parameter.param_type_name == "option":
            taken |= {*parameter.opts, *parameter.secondary_opts}
    return taken


def help_of(verb: str | None = None) -> str:
    """Return what `teijo --help` or `teijo VERB --help` prints, in 96 columns."""
    program = _program()
    settings = {**program.context_settings, "terminal_width": 96}
    context = typer.Context(program, info_name="teijo", **settings)
    if verb is None:
        return str(program.get_help(context))
    command = program.commands[verb]
    inner = typer.Context(command, info_name=verb, parent=context)
    return str(command.get_help(inner))


def page() -> str:
    """Return the whole page: the program's help, then each verb's."""
    parts = [OPENING, block(help_of())]
    for verb in verbs():
        parts += [f"## teijo {verb}\n", block(help_of(verb))]
    return "\n".join(parts)


def block(text: str) -> str:
    """Return text as a block that Markdown leaves alone."""
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"```text\n{lines}\n```\n"


if __name__ == "__main__":
    print(page(), end="")
