"""The test insert: 300,000 rows in and out of one table, by key, by range and all at once."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from teijo.sql.suite.operation import Counted, Operation, Site

_SMALL_LOOPS = 10
_RANGES = (
    "{c}=3 or {c}=2 or {c}=1 or {c}=4 or {c}=16 or {c}=10",
    "{c}>={last} or {c}<1",
    "{c}>=1 and {c}<=2",
    "({c}>=1 and {c}<=2) or ({c}>=1 and {c}<=2)",
    "{c}>=1 and {c}<=10 and {c}<=5",
    "({c}>0 and {c}<2) or {c}>={last}",
    "({c}>0 and {c}<2) or ({c}>={half} and {c}<={over}) or {c}={under}",
    "({c}>=5 and {c}<=10) or ({c}>=1 and {c}<=4)",
    "({c}=1 or {c}=2) and ({c}=3 or {c}=4)",
    "({c}=1 or {c}=2) and ({c}=2 or {c}=3)",
    "({c}=1 or {c}=5 or {c}=20 or {c}=40) and ({c}=1 or {c}>=20 or {c}=4)",
    "(({c}=1 or {c}=3) or ({c}>1 and {c}<3)) and {c}<=2",
    "({c}>=0 and {c}<4) or ({c}>=4 and {c}<6)",
    "{c}<=-1 or ({c}>=0 and {c}<=5) or ({c}>=4 and {c}<6) or ({c}>7 and {c}<=8)",
    "({c}>=1 and {c}<=2 or {c}>=4 and {c}<=5) or ({c}>=0 and {c}<=10)",
    "({c}>=1 and {c}<=2 or {c}>=4 and {c}<=5) or ({c}>2 and {c}<=10)",
    "({c}>1 or {c}<1) and {c}<=2",
    "{c}<=2 and ({c}>1 or {c}<=1)",
    "({c}>=1 or {c}<1) and {c}<=2",
    "({c}>=1 or {c}<=2) and {c}<=2",
)


def _rows(site: Site) -> int:
    return site.size(100_000, 1000)


def _ranges(site: Site) -> int:
    return site.size(500, 10)


def _columns(name: str, site: Site, index: str = "") -> list[str]:
    ints = [(column, "int not null") for column in ("id", "id2", "id3")]
    return site.create(
        name, [*ints, ("dummy1", "char(30)")], primary="id,id2", indexes=[index] if index else []
    )


def _make(site: Site, loop: int) -> Sequence[str]:
    del loop
    return _columns("bench1", site, "id3")


def _insert(site: Site, loop: int) -> Sequence[str]:
    rows = _rows(site)
    order, place = divmod(loop, rows)
    key = (place, 3 * rows - 1 - place, site.keys[place])[order]
    word = ("ABCDEFGHIJ", "BCDEFGHIJK", "CDEFGHIJKL")[order]
    return [
        f"insert into {site.table('bench1')} (id,id2,id3,dummy1)"
        f" values ({key},{key},{key},'{word}')"
    ]


def _duplicate(site: Site, loop: int) -> Sequence[str]:
    key = site.keys[loop % _rows(site)]
    return [f"insert into {site.table('bench1')} (id,id2,id3,dummy1) values ({key},{key},2,'D')"]


def _read(
    name: str,
    loops: int,
    *texts: str,
    counted: Counted = "statements",
    limited: bool = True,
    notes: Sequence[str] = (),
) -> Operation:
    """Return an operation of statements on bench1; {t}, {i}, {k} and {n} are its table and loop."""

    def statements(site: Site, loop: int) -> list[str]:
        n = _rows(site)
        values = {
            "t": site.table("bench1"),
            "i": loop,
            "k": site.keys[loop % n],
            "far": site.keys[loop % n] + 3 * n,
            "n": n,
            "n2": 2 * n,
            # Drivers take a bare % for the beginning of a parameter.
            "digit": "id % 10" if site.dialect == "sqlite" else "mod(id,10)",
            "part": 3 * n * loop // 100,
            "from_": n // _ranges(site) * (loop + 1),
            "to": n // _ranges(site) * (loop + 1) + loop + 1,
        }
        return [text.format(**values) for text in texts]

    return Operation(
        name=name,
        loops=loops,
        statements=statements,
        each=len(texts),
        counted=counted,
        limited=limited,
        notes=notes,
    )


def _or_range(name: str, column: str, site: Site) -> Operation:
    def statements(at: Site, loop: int) -> list[str]:
        table, found = at.table("bench1"), []
        for terms in (1, 12, 24, 36, 48):
            keys = [at.keys[(loop * terms + n) % _rows(at)] for n in range(terms)]
            listed = ",".join(map(str, keys))
            ored = " or ".join(f"{column}={key}" for key in keys)
            found += [
                f"select * from {table} where {ored}",
                f"select * from {table} where {column} in ({listed})",
                f"select * from {table} where ({ored}) and {column} < 10",
            ]
        return found

    loops = -(-_ranges(site) * 10 // 15)
    return Operation(
        name=name, loops=loops, statements=statements, each=15, limited=True,
        counted="statements and rows",
    )  # fmt: skip


def _simple_ranges(name: str, column: str, site: Site, notes: Sequence[str]) -> Operation:
    def statements(at: Site, loop: int) -> list[str]:
        del loop
        table = at.table("bench1")
        half = _rows(at) // 2
        values = {
            "c": column,
            "last": 3 * _rows(at) - 1,
            "half": half,
            "over": half + 2,
            "under": half - 1,
        }
        return [f"select * from {table} where {each.format(**values)}" for each in _RANGES]

    return Operation(
        name=name,
        loops=_ranges(site),
        statements=statements,
        each=len(_RANGES),
        limited=True,
        counted="statements and rows",
        notes=notes,
    )


def _queries(site: Site) -> list[Operation]:
    rows, ranges, few = _rows(site), _ranges(site), _SMALL_LOOPS
    by_key = site.size(100_000, 10)
    within = "from {t} where id>={from_} and id<={to}"
    found = [
        _read("prepared_select", rows, "select * from {t} where id={k}", limited=False,
              notes=("Test of prepared+execute/once prepared many execute selects",)),
        _read("once_prepared_select", rows, "select * from {t} where id={k}", limited=False),
        _read("select_big", few, "select id from {t}", counted="rows", limited=False,
              notes=("Retrieving data from the table",)),
    ]  # fmt: skip
    found += [
        _read(name, few, f"select {what} from {{t}} order by {order}", counted="rows")
        for name, what, order in (
            ("order_by_big_key", "id,id2", "id,id2"),
            ("order_by_big_key_desc", "id,id2", "id desc, id2 desc"),
            ("order_by_big_key_prefix", "id", "id desc"),
            ("order_by_big_key2", "id3", "id3"),
            ("order_by_big_key_diff", "id2", "id3"),
            ("order_by_big", "id", "id2,id3"),
        )
    ]
    found += [
        _read(name, ranges, text, counted="rows")
        for name, text in (
            ("order_by_range", f"select dummy1,id3 {within} order by id3"),
            ("order_by_key_prefix", f"select dummy1,id {within} order by id"),
            ("order_by_key2_diff", "select id2,id3 from {t} where id3>={from_}"
             f" and id3<={{from_}}+{ranges} order by id3"),
            ("select_diff_key", "select id2 from {t} where id={i} or id3={k}"),
        )
    ]  # fmt: skip
    found += [
        _or_range("select_range_prefix", "id", site),
        _or_range("select_range_key2", "id3", site),
    ]
    found += [
        _read(name, by_key, *(f"select {what} from {{t}} where {where.format(key)}"
              for key in ("{k}", "{far}")))
        for name, what, where in (
            ("select_key_prefix", "*", "id={0}"),
            ("select_key", "*", "id={0} and id2={0}"),
            ("select_key_return_key", "id,id2", "id={0} and id2={0}"),
            ("select_key2", "*", "id3={0}"),
            ("select_key2_return_key", "id3", "id3={0}"),
            ("select_key2_return_prim", "id,id2", "id3={0}"),
        )
    ]  # fmt: skip
    heading = ("", "Test of compares with simple ranges")
    return [
        *found,
        _simple_ranges("select_range_prefix", "id", site, heading),
        _simple_ranges("select_range_key2", "id3", site, ()),
    ]


def _groups(site: Site) -> list[Operation]:
    few = _SMALL_LOOPS
    total = (
        "select count(*) from {t}",
        "select min(id) from {t}",
        "select max(id) from {t}",
        "select sum(id+0.0) from {t}",
        "select min(id3),max(id3),sum(id3-0.0) from {t}",
        "select min(dummy1),max(dummy1) from {t}",
        "select count(*) from {t} where id >= {n2}",
        "select count(*),sum(id+0.0),min(id),max(id),avg(id-0.0) from {t}",
        "select {digit} as last_digit,count(*) from {t} group by {digit}",
        "select id,id3,dummy1 from {t} where id < 100 group by id,id3,dummy1"
        " order by id desc,id3,dummy1",
    )
    on_key = (
        "select min(id) from {t}",
        "select max(id) from {t}",
        "select min(id2) from {t} where id={i}",
        "select max(id2) from {t} where id={i}",
        "select min(dummy1) from {t} where id={i}",
        "select max(dummy1) from {t} where id={i}",
    )
    off_key = (
        "select min(id2) from {t}",
        "select max(id2) from {t}",
        "select min(id3) from {t} where id2={i}",
        "select max(id3) from {t} where id2={i}",
        "select min(dummy1) from {t} where id2={i}",
        "select max(dummy1) from {t} where id2={i}",
    )
    return [
        _read("select_group", few, *total),
        _read("min_max_on_key", _ranges(site) * 5, *on_key),
        _read("min_max", few, *off_key),
        _read("count_on_key", 100, "select count(id) from {t} where id < {part}", limited=False),
        _read("count", 100, "select count(dummy1) from {t} where id2 < {part}", limited=False),
        _read("count_distinct_big", few, "select count(distinct dummy1) from {t}",
              "select dummy1,count(distinct id) from {t} group by dummy1"),
    ]  # fmt: skip


def _updates(site: Site) -> list[Operation]:
    rows = _rows(site)
    step = rows // _ranges(site) + 1
    steps = -(-rows // step)

    def big(at: Site, loop: int) -> list[str]:
        table, n = at.table("bench1"), _rows(at)
        if loop < steps:
            where = f"id3 >= 0 and id3 <= {loop * step}"
        elif loop == steps:
            where = f"id3 >= 0 and id3 < {n}"
        elif loop == steps + 1:
            where = f"id3 >= {n} and id3 < {2 * n}"
        else:
            divided = "(0-id3)/20" if at.dialect == "sqlite" else "floor((0-id3)/20)"
            return [f"update {table} set id3={divided} where id3<0"]
        return [f"update {table} set id3=0-id3 where {where}"]

    def of_key(at: Site, loop: int) -> list[str]:
        key = at.keys[loop] + _rows(at)
        return [f"update {at.table('bench1')} set id3=-{key} where id3={key}"]

    def by_prefix(at: Site, loop: int) -> list[str]:
        return [f"update {at.table('bench1')} set dummy1='really updated' where id={3 * loop + 1}"]

    by_key = "update {t} set dummy1='updated' where id={i} and id2={i}"
    two = "Time for {name} ({count}):  "  # the suite has two blanks in these lines
    return [
        Operation(name="update_of_key", loops=rows // 2, statements=of_key, says=two,
                  notes=("", "Testing update of keys with functions")),
        Operation(name="update_of_key_big", loops=steps + 3, statements=big),
        spaced(_read("update_with_key", 3 * rows, by_key, limited=False,
                     notes=("Testing update with key",))),
        spaced(_read("update_with_key_record_unchanged", 3 * rows, by_key, limited=False,
                     notes=("Testing update with key, no changes in data",))),
        Operation(name="update_with_key_prefix", loops=rows, statements=by_prefix, limited=True,
                  says=two),
        spaced(_read("update_big", _SMALL_LOOPS, "update {t} set dummy1='updated {i}'",
                     limited=False, notes=("", "Testing update of all rows"))),
    ]  # fmt: skip


def spaced(operation: Operation, says: str = "Time for {name} ({count}):  ") -> Operation:
    """Return an operation whose line has two blanks behind its colon."""
    return replace(operation, says=says)


def _joins(site: Site) -> list[Operation]:
    few, ranges = _SMALL_LOOPS, _ranges(site)
    joined = "{t} a left outer join {t} b on (a.id2=b.id3)"
    both = "select count(a.dummy1),count(b.dummy1) from " + joined
    found = [
        spaced(_read("outer_join_on_key", few, "select count(*) from " + joined, counted="rows",
                     limited=False, notes=("", "Testing left outer join"))),
        spaced(_read("outer_join", few, both, counted="rows", limited=False)),
        spaced(_read("outer_join_found", few, both + " where b.id3 is not null", counted="rows",
                     limited=False)),
        spaced(_read("outer_join_not_found", few, both + " where b.id3 is null", counted="rows",
                     limited=True)),
    ]  # fmt: skip
    # These lines have no colon, so that the suite's own table of totals does not see them.
    said = "Time for {name} ({count}) "
    for first, last in ((1, 10), (11, min(100, _rows(site))), (101, min(1000, _rows(site)))):

        def fill(at: Site, loop: int, first: int = first, last: int = last) -> list[str]:
            del loop
            made = at.create("bench2", [("id", "int not null")], primary="id") if first == 1 else []
            keys = range(first, last + 1)
            return [*made, *(f"insert into {at.table('bench2')} values ({key})" for key in keys)]

        def chosen(at: Site, loop: int, last: int = last) -> list[str]:
            del loop
            keys, table = ",".join(map(str, range(1, last + 1))), at.table("bench1")
            return [f"select {table}.* from {table} where id in ({keys})"]

        def joined_in(at: Site, loop: int) -> list[str]:
            del loop
            one, two = at.table("bench1"), at.table("bench2")
            return [f"select {one}.* from {two} left outer join {one} on ({one}.id={two}.id)"]

        note = f"Testing SELECT ... WHERE id in ({last} values)"
        over = first == 101
        found += [
            Operation(name="select_in", loops=ranges, statements=chosen, says=said, before=fill,
                      counted="rows", limited=True, notes=(note,)),
            Operation(name="select_join_in", loops=ranges, statements=joined_in, says=said,
                      counted="rows", limited=True,
                      after=(lambda at, _: [f"drop table {at.table('bench2')}"])
                      if over else lambda *_: ()),
        ]  # fmt: skip
    return found


def _copies(site: Site) -> list[Operation]:
    del site

    def make(at: Site, loop: int) -> list[str]:
        del loop
        return [*_columns("bench2", at), *_columns("bench3", at, "id3")]

    def copy(name: str) -> Callable[[Site, int], list[str]]:
        return lambda at, _: [f"insert into {at.table(name)} select * from {at.table('bench1')}"]

    def drop(at: Site, loop: int) -> list[str]:
        return [f"drop table {at.table(f'bench{loop + 2}')}"]

    two = "Time for {name} ({count}):  "
    return [
        Operation(name="insert_select_1_key", loops=1, statements=copy("bench2"), says=two,
                  before=make, notes=("", "Testing INSERT INTO ... SELECT")),
        Operation(name="insert_select_2_keys", loops=1, statements=copy("bench3"), says=two),
        Operation(name="drop table", loops=2, statements=drop, says="Time for {name}({count}): "),
    ]  # fmt: skip


def _deletes(site: Site) -> list[Operation]:
    rows = _rows(site)

    def by_key(at: Site, loop: int) -> list[str]:
        key = at.keys[loop * 10] + _rows(at)
        return [f"delete from {at.table('bench1')} where id3={key}"]

    def by_range(at: Site, loop: int) -> list[str]:
        n = _rows(at)
        wheres = (
            *(f"id3 >= 0 and id3 <= {n * part // 10}" for part in range(10)),
            f"id3 >= 0 and id3 <= {n}",
            f"id >= {n} and id <= {2 * n}",
        )
        if loop == len(wheres):
            return [f"delete from {at.table('bench1')} where id3 < {3 * n}"]
        return [f"delete from {at.table('bench1')} where {wheres[loop]}"]

    return [
        Operation(name="delete_key", loops=rows // 10, statements=by_key,
                  notes=("", "Testing delete")),
        Operation(name="delete_range", loops=13, statements=by_range, printed=12,
                  after=lambda at, _: [f"drop table {at.table('bench1')}"]),
    ]  # fmt: skip


def _many_keys(site: Site) -> list[Operation]:
    rows = site.size(100_000, 100)
    kinds = (
        "tinyint",
        "tinyint",
        "mediumint",
        "smallint",
        "char(16)",
        "integer",
        "float",
        "double",
    )
    names = ["field1", "field_search", *(f"field{n}" for n in range(2, 17))]
    columns = [
        (name, f"{kind} not null")
        for name, kind in zip(names, (*kinds, *["char(6)"] * 9), strict=True)
    ]

    def make(at: Site, loop: int) -> list[str]:
        del loop
        primary = ",".join(f"field{n}" for n in range(1, 17))
        keys = ["field_search", *(f"field{n}" for n in range(3, 17))]
        return at.create("bench1", columns, primary=primary, indexes=keys)

    def row(at: Site, loop: int) -> list[str]:
        key, few = at.keys[loop], loop & 127
        texts = ",".join([f"'{key}'"] * 9)
        values = f"{few},{few},{key},{loop & 32767},'ABCDEF{key}',0,{key},{key}.0,{texts}"
        return [f"insert into {at.table('bench1')} values ({values})"]

    def update(at: Site, loop: int) -> list[str]:
        return [f"update {at.table('bench1')} set field5=1 where field_search={loop}"]

    def delete(at: Site, loop: int) -> list[str]:
        return [f"delete from {at.table('bench1')} where field_search={loop}"]

    return [
        Operation(name="insert_key", loops=rows, statements=row, before=make,
                  notes=("Insert into table with 16 keys and with a primary key with 16 parts",)),
        Operation(name="update_of_primary_key_many_keys", loops=256, statements=update,
                  notes=("Testing update of keys",)),
        Operation(name="delete_big_many_keys", loops=128, statements=delete,
                  notes=("Deleting rows from the table",)),
        Operation(name="delete_all_many_keys", loops=1,
                  statements=lambda at, _: [f"delete from {at.table('bench1')} where field1 > 0"],
                  after=lambda at, _: [f"drop table {at.table('bench1')}"],
                  notes=("Deleting everything from table",)),
    ]  # fmt: skip


def _multiple(site: Site) -> list[Operation]:
    rows, together = _rows(site), 1000

    def insert(at: Site, loop: int) -> list[str]:
        keys = range(loop * together, min((loop + 1) * together, _rows(at)))
        values = ",".join(f"({key},{key},{key},'EFGHIJKLM')" for key in keys)
        return [f"insert into {at.table('bench1')} values {values}"]

    return [
        Operation(name="multiple_value_insert", loops=-(-rows // together), statements=insert,
                  before=_make, printed=rows,
                  notes=(f"Inserting {rows} rows with multiple values",)),
        Operation(name="drop table", loops=1, says="Time for {name}({count}): ",
                  statements=lambda at, _: [f"drop table {at.table('bench1')}"]),
    ]  # fmt: skip


def operations(site: Site) -> list[Operation]:
    """Return what is timed, in its order."""
    rows = _rows(site)
    head = (
        "Testing the speed of inserting data into 1 table and do some selects on it.",
        f"The tests are done with a table that has {rows} rows.",
        "",
        "Generating random keys",
        "Creating tables",
        f"Inserting {rows} rows in order",
        f"Inserting {rows} rows in reverse order",
        f"Inserting {rows} rows in random order",
    )
    return [
        Operation(name="insert", loops=3 * rows, statements=_insert, before=_make, notes=head),
        Operation(name="insert_duplicates", loops=rows, statements=_duplicate, fails=True,
                  notes=("Testing insert of duplicates",)),
        *_queries(site),
        *_groups(site),
        *_updates(site),
        *_joins(site),
        *_copies(site),
        *_deletes(site),
        *_many_keys(site),
        *_multiple(site),
    ]  # fmt: skip
