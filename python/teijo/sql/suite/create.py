"""The test create: tables made, looked at and dropped, 30,000 of them."""

from teijo.sql.suite.operation import Operation, Site

_COLUMNS = (
    ("i", "int not null"),
    ("d", "double"),
    ("f", "float"),
    ("s", "char(10)"),
    ("v", "varchar(100)"),
)
_KINDS = ("tinyint", "mediumint", "smallint", "char(16)", "integer", "float", "double")
_KEYS = 16


def tables(site: Site) -> int:
    """Return how many tables there are at one time."""
    return site.size(10_000, 10)


def _create(site: Site, loop: int) -> list[str]:
    return site.create(f"bench_{loop + 1}", _COLUMNS, primary="i")


def _count(site: Site, loop: int) -> list[str]:
    return [f"select count(*) from {site.table(f'bench_{loop + 1}')}"]


def _drop(site: Site, loop: int) -> list[str]:
    return [f"drop table {site.table(f'bench_{loop + 1}')}"]


def _create_and_drop(site: Site, loop: int) -> list[str]:
    return [*_create(site, loop), *_drop(site, loop)]


def _create_keys_and_drop(site: Site, loop: int) -> list[str]:
    kinds = (*_KINDS, *["char(5)"] * (_KEYS - len(_KINDS)))
    columns = [(f"field{n}", f"{kind} not null") for n, kind in enumerate(kinds, 1)]
    names = [name for name, _ in columns]
    made = site.create(f"bench_{loop + 1}", columns, primary=",".join(names), indexes=names[1:])
    return [*made, *_drop(site, loop)]


def operations(site: Site) -> list[Operation]:
    """Return what is timed, in its order."""
    count = tables(site)
    keyed = 2 if site.dialect == "mariadb" else 1 + _KEYS
    return [
        Operation(
            name="create_MANY_tables",
            loops=count,
            statements=_create,
            notes=(
                "Testing the speed of creating and dropping tables",
                f"Testing with {count} tables and {site.size(10_000, 100)} loop count",
                "",
                "Testing create of tables",
            ),
        ),
        Operation(
            name="select_group_when_MANY_tables",
            loops=count,
            statements=_count,
            says="Time to {name} ({count}): ",
            notes=("Accessing tables",),
        ),
        Operation(
            name="drop_table_when_MANY_tables",
            loops=count,
            statements=_drop,
            notes=("Testing drop",),
        ),
        Operation(
            name="create+drop",
            loops=count,
            statements=_create_and_drop,
            each=2,
            counted="loops",
            notes=("Testing create+drop",),
        ),
        Operation(
            name="create_key+drop",
            loops=count,
            statements=_create_keys_and_drop,
            each=keyed,
            counted="loops",
            printed=site.size(10_000, 100),
        ),
    ]
