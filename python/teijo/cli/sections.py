"""Sections of facts and tables, as the command line prints them (speech/sections.py)."""

import sys
from collections.abc import Iterable

from teijo.cli import console
from teijo.report.width import columns_of, wrapped
from teijo.speech.sections import Facts, Section, Table, Typed

VALUE_LEAST = 28
"""Columns that a value needs to be broken between its words; in fewer it stays whole."""


def put_sections(sections: Iterable[Section]) -> None:
    """Print sections below each other, each after an empty line; one without content is left out.

    Raises: as `console.put`.
    """
    for section in sections:
        if section.is_told:
            console.put("")
            put_section(section)


def put_section(section: Section) -> None:
    """Print one section; raises as `console.put`."""
    match section:
        case Facts():
            put_facts(section)
        case Table():
            put_table(section)


def put_facts(facts: Facts) -> None:
    """Print a title, and one fact a line below it; raises as `console.put`."""
    console.put(facts.title)
    shown = facts.shown
    width = max(columns_of(name) for name, _ in shown)
    columns = console.width(sys.stdout)
    room = 0 if columns is None else columns - width - 4
    for name, value in shown:
        first, *more = wrapped(value, room) if room >= VALUE_LEAST else [value]
        console.put(f"  {' ' * (width - columns_of(name))}{name}  {first}")
        for line in more:
            console.put(f"{' ' * (width + 4)}{line}")


def put_plain(facts: Facts) -> None:
    """Print one fact a line and no title, each in one line; raises as `console.put`."""
    shown = facts.shown
    width = max(columns_of(name) for name, _ in shown)
    for name, value in shown:
        console.put(f"{' ' * (width - columns_of(name))}{name}  {value}")


def put_table(table: Table) -> None:
    """Print a title and a table below it; raises as `console.put`."""
    if not table.rows:
        console.put(f"{table.title}: {table.none}")
        return
    console.put(table.title)
    for line in console.columns(table.head, table.rows):
        console.put("  " + line)


def put_listing(table: Table) -> None:
    """Print a table that is all there is, with no title; raises as `console.put`."""
    for line in console.columns(table.head, table.rows):
        console.put(line)


def put_typed(typed: Typed) -> None:
    """Print a sentence, and its command line below it; raises as `console.put`."""
    console.put(typed.words)
    if typed.command:
        console.put(f"  {typed.command}")
