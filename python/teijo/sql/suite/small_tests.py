"""The tests alter-table, big-tables and connect."""

from dataclasses import replace

from teijo.sql.suite.operation import Operation, Site

_FIRST_COLUMNS = 8
_STR_BYTES = 65_000


def _added(site: Site) -> tuple[int, int, int]:
    """Return how many columns there are in the end, how many a step adds, and the steps."""
    columns = site.size(1000, 100)
    more = columns - _FIRST_COLUMNS
    each = more // 100 + 1
    return columns, each, -(-more // each)


def _index(at: Site, loop: int) -> list[str]:
    table, n = at.table("bench"), loop + 1
    return [f"create index {table}_ind{n} on {table} (i{n})"]


def _drop_index(at: Site, loop: int) -> list[str]:
    table, n = at.table("bench"), loop + 1
    on = f" on {table}" if at.dialect == "mariadb" else ""
    return [f"drop index {table}_ind{n}{on}"]


def _changed(at: Site, words: list[str]) -> list[str]:
    table = at.table("bench")
    if at.dialect == "sqlite":  # its ALTER TABLE takes one column
        return [f"alter table {table} {word}" for word in words]
    return [f"alter table {table} {', '.join(words)}"] if words else []


def alter_table(site: Site) -> list[Operation]:
    """Return alter-table: columns added and dropped, with a thousand rows in the table."""
    rows = site.size(1000, 100)
    columns, each, steps = _added(site)

    def make(at: Site, loop: int) -> list[str]:
        del loop
        names = [(f"i{n}", "int not null") for n in range(1, _FIRST_COLUMNS + 1)]
        return at.create("bench", names)

    def row(at: Site, loop: int) -> list[str]:
        values = ",".join([str(loop)] * _FIRST_COLUMNS)
        return [f"insert into {at.table('bench')} values ({values})"]

    def add(at: Site, loop: int) -> list[str]:
        first = _FIRST_COLUMNS + loop * each + 1
        last = min(first + each - 1, columns)
        return _changed(at, [f"add i{n} integer" for n in range(first, last + 1)])

    def rest(at: Site, loop: int) -> list[str]:
        first = _FIRST_COLUMNS + loop * each + 1
        return _changed(at, [f"add i{n} integer" for n in range(first, columns + 1)])

    def drop(at: Site, loop: int) -> list[str]:
        first = columns - loop * each
        last = max(first - each, _FIRST_COLUMNS)
        return _changed(at, [f"drop i{n}" for n in range(first, last, -1)])

    notes = (
        "Testing of ALTER TABLE",
        f"Testing with {columns} columns and {rows} rows in 100 steps",
        "Insert data into the table",
    )
    altered = each if site.dialect == "sqlite" else 1
    return [
        Operation(
            name="insert",
            loops=rows,
            statements=row,
            says="Time for {name} ({count})",
            before=make,
            notes=notes,
        ),
        Operation(
            name="alter_table_add",
            loops=steps,
            statements=add,
            each=altered,
            counted="loops",
            limited=True,
            after=rest,
        ),
        Operation(name="create_index", loops=_FIRST_COLUMNS, statements=_index),
        Operation(name="drop_index", loops=_FIRST_COLUMNS, statements=_drop_index),
        Operation(
            name="alter_table_drop",
            loops=steps,
            statements=drop,
            each=altered,
            counted="loops",
            limited=True,
            after=lambda at, _: [f"drop table {at.table('bench')}"],
        ),
    ]


def big_tables(site: Site) -> list[Operation]:
    """Return big-tables: a table of a thousand columns."""
    count, columns = site.size(1000, 100), site.size(1000, 100)
    names = ",".join(f"i{n}" for n in range(1, columns + 1))
    values = ",".join(["1"] * columns)

    def make(at: Site, loop: int) -> list[str]:
        del loop
        made = at.create("bench1", [(f"i{n}", "int") for n in range(1, columns + 1)])
        return [*made, f"insert into {at.table('bench1')} values ({values})"]

    def reads(what: str, note: str, *, first: bool = False) -> Operation:
        head = (
            "Testing of some unusual tables",
            f"All tests are done {count} times with {columns} fields",
            "",
            f"Testing table with {columns} fields",
        )
        return Operation(
            name="select_many_fields",
            loops=count,
            statements=lambda at, _: [f"select {what} from {at.table('bench1')}"],
            says="Time to {name}({count}): ",
            before=make if first else lambda *_: (),
            notes=(*(head if first else ()), note),
        )

    def writes(what: str, note: str, *, last: bool = False) -> Operation:
        return Operation(
            name="insert_many_fields",
            loops=count,
            statements=lambda at, _: [f"insert into {at.table('bench1')}{what} values ({values})"],
            says="Time to {name}({count}): ",
            after=(lambda at, _: [f"drop table {at.table('bench1')}"]) if last else lambda *_: (),
            notes=(note,),
        )

    return [
        reads("*", "Testing select * from table with 1 record", first=True),
        reads(names, "Testing select all_fields from table with 1 record"),
        writes("", "Testing insert VALUES()"),
        writes(f" ({names})", "Testing insert (all_fields) VALUES()", last=True),
    ]


def connect(site: Site) -> list[Operation]:
    """Return connect: connections, and statements that do next to nothing."""
    count = site.size(100_000, 1000)
    few = count // 10

    def make(at: Site, loop: int) -> list[str]:
        del loop
        columns = (("a", "int not null"), ("i", "int"), ("s", "char(10)"))
        made = at.create("bench1", columns, primary="a")
        return [*made, f"insert into {at.table('bench1')} values (1,100,'AAA')"]

    def second(at: Site, loop: int) -> list[str]:
        del loop
        return [f"insert into {at.table('bench1')} values (2,200,'BBB')"]

    def blob(at: Site, loop: int) -> list[str]:
        del loop
        made = at.create("bench1", [("b", "blob")])
        if at.dialect == "mariadb":
            made = [made[0].replace("b blob", "b mediumblob")]
        return [*made, f"insert into {at.table('bench1')} values ('{'A' * _STR_BYTES}')"]

    def drop(at: Site, loop: int) -> list[str]:
        del loop
        return [f"drop table {at.table('bench1')}"]

    def one(text: str) -> Operation:
        # Statements with the number of the loop in them miss any cache of results.
        return Operation(
            name="",
            loops=count,
            statements=lambda at, n: [text.format(n=n, table=at.table("bench1"))],
            says="Time to {name} ({count}): ",
        )

    head = (
        "Testing the speed of connecting to the server and sending of data",
        f"Connect tests are done {few} times and other tests {count} times",
        "",
        "Testing connection/disconnect",
    )
    row = "select a,i,s,{n} from {table}"
    return [
        Operation(name="connect", loops=few, each=0, says="Time to {name} ({count}): ",
                  connects=True, notes=head),
        named(one("select {n}"), "connect+select_simple", loops=few, connects=True,
              says="Time for {name} ({count}): ",
              notes=("Test connect/simple select/disconnect",)),
        named(one("select {n}"), "select_simple", says="Time for {name} ({count}): ",
              notes=("Test simple select",)),
        named(one("select 10000"), "select_simple_cache", says="Time for {name} ({count}): ",
              notes=("Test simple select",)),
        named(one(row), "connect+select_1_row", loops=few, connects=True, before=make,
              notes=("Testing connect/select 1 row from table/disconnect",)),
        named(one(row), "select_1_row", notes=("Testing select 1 row from table",)),
        named(one("select a,i,s from {table}"), "select_1_row_cache"),
        named(one(row), "select_2_rows", before=second,
              notes=("Testing select 2 rows from table",)),
        named(one("select a+a+a+a+a+a+a+a+a+{n} from {table}"), "select_column+column",
              says="Time for {name} ({count}): ", after=drop,
              notes=("Test select with aritmetic (+)",)),
        named(one("select b,{n} from {table}"), "select_big_str", loops=few, before=blob,
              after=drop,
              notes=(f"Testing retrieval of big records ({_STR_BYTES} bytes)",)),
    ]  # fmt: skip


def named(operation: Operation, name: str, **changes: object) -> Operation:
    """Return an operation under its name, with what is different of it."""
    return replace(operation, name=name, **changes)  # type: ignore[arg-type]
