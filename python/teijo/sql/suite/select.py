"""The test select: counts, groups and ranges over keys of many parts."""

from collections.abc import Sequence
from dataclasses import replace

from teijo.sql.suite.operation import Counted, Operation, Site

_BIG = (
    "select idn from {t} where region='{r}'",
    "select idn from {t} where region='{r}' and idn={i}",
    "select idn from {t} where region='{r}' and rev_idn={i}",
    "select idn from {t} where region='{r}' and grp={g}",
    "select idn from {t} where region>='B' and region<='C' and grp={g}",
    "select idn from {t} where region>='B' and region<='E' and grp={g}",
    "select idn from {t} where grp={g}",
)
_MIN_MAX = (
    "select min(region) from {t}",
    "select max(region) from {t}",
    "select min(region),max(region) from {t}",
    "select min(rev_idn) from {t} where region='{r}'",
    "select max(grp) from {t} where region='{r}'",
    "select max(idn) from {t} where region='{r}' and grp={g}",
    "select max(region) from {t} where region<'{r}'",
)
_COUNTS = (
    "select count(*) from {t} where region='{r}'",
    "select count(*) from {t} where region='{r}' and grp={g}",
    "select count(*) from {t} where region>'{r}'",
    "select count(*) from {t} where region<='{r}'",
    "select count(*) from {t} where region='{r}' and grp>{g}",
)
_REGIONS = 6
_TERMS = 500


def _groups(site: Site) -> int:
    return site.size(100, 10)


def _region(loop: int, regions: int = _REGIONS) -> str:
    return chr(65 + loop % regions)


def _make(site: Site, loop: int) -> Sequence[str]:
    del loop
    ints = [(name, "integer not null") for name in ("idn", "rev_idn", "grp", "grp_no_key")]
    return site.create(
        "bench1",
        [("region", "char(1) not null"), *ints],
        primary="region,idn",
        unique=["region,rev_idn", "region,grp,idn"],
    )


def _insert(site: Site, loop: int) -> Sequence[str]:
    rows = site.size(10_000, 1000)
    names = " (region,idn,rev_idn,grp,grp_no_key)" if loop > rows // 2 else ""
    group = loop * 3 % _groups(site)
    values = f"'{_region(loop)}',{loop},{rows - 1 - loop},{group},{group}"
    return [f"insert into {site.table('bench1')}{names} values ({values})"]


def _read(
    name: str,
    loops: int,
    *texts: str,
    counted: Counted = "statements",
    limited: bool = True,
    more: int = 0,
    says: str = "Time for {name} ({count}): ",
    notes: Sequence[str] = (),
) -> Operation:
    """Return statements on bench1; {t}, {i}, {g} and {r} are its table, loop, group and region."""

    def statements(site: Site, loop: int) -> list[str]:
        values = {
            "t": site.table("bench1"),
            "i": loop,
            "g": loop * (11 if more else 3) % _groups(site),
            "r": _region(loop, _REGIONS + more),
        }
        return [text.format(**values) for text in texts]

    return Operation(
        name=name, loops=loops, statements=statements, each=len(texts), counted=counted,
        limited=limited, says=says, notes=notes,
    )  # fmt: skip


def _ranges(site: Site, loop: int) -> list[str]:
    table, groups = site.table("bench1"), _groups(site)
    region = _region(loop, _REGIONS + 1)
    drawn = [(loop * 7 + n * 13) % 997 for n in range(1, _TERMS)]
    inner = "grp = 1" + "".join(f" or grp={each % groups}" for each in drawn)
    listed = "1" + "".join(f",{each % groups}" for each in drawn)
    pairs = "region='A' and grp=1" + "".join(
        f" or region='{_region(each)}' and grp={each % groups}" for each in drawn[:98]
    )
    one = f"region='{region}' and ({inner})"
    found = [f"select * from {table} where region='{region}' and (grp in ({listed}))"]
    for _ in range(10):
        found += [
            f"select * from {table} where {one}",
            f"select * from {table} where {pairs}",
            f"select * from {table} where ({one}) and idn < 50",
            f"select * from {table} where (({one}) or (region='A' and grp < 10)) and region <='B'",
        ]
    return found


def operations(site: Site) -> list[Operation]:
    """Return what is timed, in its order."""
    rows, some, few = site.size(10_000, 1000), site.size(1000, 100), site.size(10, 1)
    head = (
        "Testing the speed of selecting on keys that consist of many parts",
        f"The test-table has {rows} rows and the test is done with {_TERMS} ranges.",
        "",
        "Creating table",
        f"Inserting {rows} rows",
    )
    found = [
        Operation(name="insert", loops=rows, statements=_insert, before=_make, notes=head,
                  says="Time to {name} ({count}): "),
        _read("select_cache", rows, "select sum(idn+100),sum(rev_idn-100) from {t}", limited=False,
              notes=("Test if the database has a query cache",)),
        _read("select_cache2", rows, "select sum(idn+{i}),sum(rev_idn-{i}) from {t}",
              limited=False),
        _read("select_big", few, *_BIG, counted="statements and rows", limited=False, more=1,
              notes=("Testing big selects on the table",)),
        Operation(name="select_range", loops=few, statements=_ranges, each=41, limited=True,
                  counted="statements and rows"),
        _read("min_max_on_key", rows, *_MIN_MAX),
        _read("count_on_key", rows, *_COUNTS),
        _read("count_group_on_key_parts", some, "select grp,count(*) from {t} group by grp",
              counted="rows", limited=False),
        _read("count_group", some, "select grp_no_key,count(*) from {t} group by grp_no_key",
              counted="rows", limited=False),
        _read("count_group_with_order", some, "select grp_no_key,count(*) as cnt from {t}"
              " group by grp_no_key order by cnt", counted="rows", limited=False),
    ]  # fmt: skip
    distinct = (
        ("count_distinct_key_prefix", some, "select count(distinct region) from {t}"),
        ("count_distinct", some, "select count(distinct grp) from {t}"),
        ("count_distinct_2", some, "select count(distinct grp),count(distinct rev_idn) from {t}"),
        ("count_distinct_group_on_key", some,
         "select region,count(distinct idn) from {t} group by region"),
        ("count_distinct_group_on_key_parts", some,
         "select grp,count(distinct idn) from {t} group by grp"),
        ("count_distinct_group", some, "select grp,count(distinct rev_idn) from {t} group by grp"),
        ("count_distinct_big", some // 10,
         "select idn,count(distinct region) from {t} group by idn"),
    )  # fmt: skip
    found += [
        _read(name, loops, text, counted="rows", notes=(("Testing count(distinct) on the table",)
              if name == "count_distinct_key_prefix" else ()))
        for name, loops, text in distinct
    ]  # fmt: skip
    return [*found[:-1], with_drop(found[-1])]


def with_drop(operation: Operation) -> Operation:
    """Return an operation after which the table goes."""
    return replace(operation, after=lambda at, _: [f"drop table {at.table('bench1')}"])
