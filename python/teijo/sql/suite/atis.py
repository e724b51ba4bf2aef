"""The test ATIS: 28 tables of an air travel information system, and selects over them.

The suite loads 9,768 rows from text files that are not ours to copy. Here as many rows, in as many
tables of these names, are made by rule; so the statements are of the suite's kinds, and their
results are not the suite's.
"""

from collections.abc import Sequence
from typing import Final

from teijo.sql.suite.operation import Operation, Site

INSERTS: Final = 9768
TABLES: Final[dict[str, int]] = {
    "aircraft": 135, "airline": 46, "airport": 9, "airport_service": 14, "city": 11,
    "class_of_service": 20, "code_description": 391, "compound_class": 81, "connect_leg": 1150,
    "fare": 534, "flight": 579, "flight_class": 2896, "flight_day": 118, "flight_fare": 2998,
    "food_service": 53, "ground_service": 32, "time_interval": 7, "month_name": 12,
    "day_name": 7, "date_day": 365, "dual_carrier": 102, "restrict_carrier": 40,
    "restrict_class": 30, "restriction": 64, "state": 52, "stop": 13, "time_zone": 4,
    "transport": 5,
}  # fmt: skip
"""The rows of each."""
assert sum(TABLES.values()) == INSERTS
assert len(TABLES) == 28

_JOINS: Final = (
    ("flight", "aircraft"), ("flight", "airline"), ("fare", "restriction"), ("city", "state"),
    ("month_name", "day_name"), ("flight_day", "day_name"), ("airport_service", "airport"),
    ("ground_service", "city"),
)  # fmt: skip
_NAMES: Final = tuple(TABLES)
_ROWS: Final = tuple((name, row) for name in _NAMES for row in range(TABLES[name]))


def _create(site: Site, loop: int) -> list[str]:
    """Make a table: a key, two references to others, two numbers and two texts."""
    columns = [
        ("code", "int not null"),
        ("other", "int not null"),
        ("third", "int not null"),
        ("number", "int not null"),
        ("amount", "double not null"),
        ("name", "char(32) not null"),
        ("description", "varchar(100)"),
    ]
    return site.create(_NAMES[loop], columns, primary="code", indexes=["other"])


def _insert(site: Site, loop: int) -> list[str]:
    name, row = _ROWS[loop]
    values = (
        f"{row},{row * 7 % 97},{row * 11 % 23},{row * 37 % 1009},{row * 13 % 401}.5,"
        f"'{name} {row}','the {row % 53} of {name}'"
    )
    return [f"insert into {site.table(name)} values ({values})"]


def _joined(site: Site, pair: tuple[str, str], what: str = "a.name,b.name", rest: str = "") -> str:
    one, two = (site.table(name) for name in pair)
    return f"select {what} from {one} a, {two} b where a.other = b.code{rest}"


def _simple_joins(site: Site, loop: int) -> list[str]:
    del loop
    return [
        _joined(site, _JOINS[3], rest=" and a.code = 5"),
        *(_joined(site, pair) for pair in (_JOINS[3], _JOINS[4], _JOINS[5], _JOINS[0])),
    ]


def _join(site: Site, loop: int) -> list[str]:
    del loop
    flight, aircraft, airline = (site.table(n) for n in ("flight", "aircraft", "airline"))
    return [
        f"select l.name,c.name from {flight} f, {aircraft} c, {airline} l"
        " where f.other = c.code and f.third = l.code"
    ]


def _prefix_join(site: Site, loop: int) -> list[str]:
    del loop
    carrier, airline, fare = (site.table(n) for n in ("restrict_carrier", "airline", "fare"))
    return [
        f"select f.code from {carrier} c, {airline} l, {fare} f"
        " where c.third = l.code and f.other = c.other"
    ]


def _distinct(site: Site, loop: int) -> list[str]:
    del loop
    tables = [(site.table(n), c) for n, c in (("aircraft", "third"), ("flight", "third"),
              ("flight", "other"), ("flight_fare", "number"))]  # fmt: skip
    return [
        *(f"select distinct {column} from {table}" for table, column in tables),
        f"select distinct * from {site.table('fare')}",
        *(_joined(site, pair).replace("select", "select distinct", 1) for pair in _JOINS[:3]),
    ]


def _group(site: Site, loop: int) -> list[str]:
    del loop
    aircraft, flight, ground = (site.table(n) for n in ("aircraft", "flight", "ground_service"))
    counted = "b.name,b.code,count(*)"
    grouped = " group by b.name,b.code"
    found = [
        _joined(site, pair, counted, f"{grouped} order by b.code")
        for pair in (*_JOINS[:3], *_JOINS[4:6])
    ]
    found += [_joined(site, pair, "b.name,count(*)", " group by b.name") for pair in _JOINS[:4]]
    found += [
        f"select {what} from {table}"
        for table, what in (
            (aircraft, "sum(number)"),
            (aircraft, "avg(number)"),
            (flight, "min(code),max(code)"),
            (flight, "min(name),min(description)"),
        )
    ]
    found += [
        f"select {what} from {table} where {where}"
        for table, what, where in (
            (aircraft, "avg(number)", "number>0"),
            (aircraft, "count(*),min(amount),max(amount)", "amount>0"),
            (aircraft, "count(*)", "amount>200"),
            (aircraft, "count(*)", "amount<>0"),
            (flight, "count(*)", "code >= 112"),
        )
    ]
    found += [
        f"select {column},{what} from {table} where {where} group by {column}"
        for table, column, what, where in (
            (flight, "third", "avg(amount)", "other<50"),
            (ground, "third", "avg(amount)", "amount<>0"),
            (ground, "other", "count(*)", "1=1"),
            (flight, "other", "count(*)", "number>500"),
        )
    ]
    found += [
        f"select third,count(*) from {aircraft} where number>2 group by third having count(*)>4",
        f"select third,count(*) as total from {flight} where number>2 group by third"
        " having count(*)>20",
        _joined(site, _JOINS[0], "a.third,b.third,a.number", " and b.number<>0"
                " group by a.third,b.third,a.number"),
        _joined(site, _JOINS[1], "a.third,b.number", " group by a.third,b.number"
                " order by b.number"),
        _joined(site, _JOINS[1], "a.third,b.number", " group by a.third,b.number"
                " order by b.number desc"),
        _joined(site, _JOINS[6], "a.name,b.name", " group by a.name,b.name order by b.name"),
    ]  # fmt: skip
    assert len(found) == 28, len(found)
    return found


def operations(site: Site) -> list[Operation]:
    """Return what is timed, in its order."""
    loops = site.size(100, 10)

    def drop(at: Site, loop: int) -> Sequence[str]:
        return [f"drop table {at.table(_NAMES[loop])}"]

    created = 1 if site.dialect == "mariadb" else 2
    reads = (
        ("select_simple_join", _simple_joins, 5),
        ("select_join", _join, 1),
        ("select_key_prefix_join", _prefix_join, 1),
        ("select_distinct", _distinct, 8),
        ("select_group", _group, 28),
    )
    return [
        Operation(name="create_table", loops=len(TABLES), statements=_create, each=created,
                  counted="loops", notes=("ATIS table test", "", "Creating tables")),
        Operation(name="insert", loops=INSERTS, statements=_insert, notes=("Inserting data",),
                  says="Time to {name} ({count}): "),
        *(Operation(name=name, loops=loops, statements=of, each=each, limited=True,
                    notes=("Retrieving data",) if name == "select_simple_join" else ())
          for name, of, each in reads),
        Operation(name="drop_table", loops=len(TABLES), statements=drop,
                  says="Time to {name} ({count}): ", notes=("Removing tables",)),
    ]  # fmt: skip
