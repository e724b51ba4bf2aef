"""Hosts of compared runs: side by side, and told beside the verdict where one may be the limit."""

from dataclasses import replace

from teijo.compare.comparison import Comparison, compared
from teijo.compare.hosts import cautions
from teijo.compare.pages import pages
from teijo.compare.sides import Side
from teijo.document.model import Paragraph, Table
from teijo.report.language import Language, translator
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from tests.compare.drawn import drive, side
from tests.compare.drawn import record as drawn
from tests.methods.test_platform_page import record as on_host
from tests.report.english import untranslated


def made(run_id: str, host: str, *rates: float) -> Record:
    """Return a run of one drive, which gave 1,000 IOPS, on a host with these ceilings."""
    found = on_host(*rates)
    environment = {**found.environment, "host": host, "kernel": "Linux 6.1"}
    run = replace(found.run, id=run_id)
    return replace(found, run=run, identity=drive(serial="ONE"), environment=environment)


def of(*records: Record) -> Comparison:
    sides: list[Side] = [side(f"D{n}", each) for n, each in enumerate(records, start=1)]
    return compared(sides)


def table(comparison: Comparison) -> dict[str, tuple[object, ...]]:
    found = [
        block
        for section in pages(comparison).sections
        for block in section.blocks
        if isinstance(block, Table) and block.caption == "The hosts, side by side"
    ]
    return {str(row[0]): tuple(row[1:]) for each in found for row in each.rows}


AMPLE = (5000.0, 6000.0, 7000.0)
SLOW = (1500.0, 1600.0, 1700.0)


def test_one_drive_on_two_hosts_has_them_side_by_side() -> None:
    shown = table(of(made("a", "alpha", *AMPLE), made("b", "beta", *SLOW)))
    assert shown["host"] == ("alpha", "beta")
    assert shown["kernel"] == ("Linux 6.1", "Linux 6.1")
    assert shown["cpu governor"] == ("not known", "not known")
    assert shown["Headroom there"] == ("×4.0", "×1.5")
    assert shown["The host's ceiling there"] == ("5,000 to 7,000 IOPS", "1,500 to 1,700 IOPS")
    assert shown["The host is"] == (
        "not the limit, by ×4.0 in the narrowest cell", "may be the limit in the one cell",
    )  # fmt: skip


def test_a_host_that_may_be_the_limit_stands_beside_the_verdict() -> None:
    comparison = of(made("a", "alpha", *AMPLE), made("b", "beta", *SLOW))
    (caution,) = cautions(comparison.hosts)
    assert caution.startswith("D2: The host may be the limit in the one cell: RND 4 KiB")
    assert "(×1.5, " in caution
    overview = pages(comparison).sections[0]
    told = [block.text for block in overview.blocks if isinstance(block, Paragraph)]
    assert caution in told


def test_hosts_with_room_need_no_word_beside_the_verdict() -> None:
    comparison = of(made("a", "alpha", *AMPLE), made("b", "beta", *AMPLE))
    assert cautions(comparison.hosts) == ()


def test_of_an_older_file_the_facts_are_shown_and_nothing_is_concluded() -> None:
    old = made("a", "alpha")
    old = replace(old, environment={"host": "alpha", "cpu": "A"})
    comparison = of(old, made("b", "beta", *AMPLE))
    assert [each.found is None for each in comparison.hosts] == [True, False]
    shown = table(comparison)
    assert (shown["host"], shown["The host is"][0]) == (("alpha", "beta"), "not known")


def test_simulated_drives_have_no_host() -> None:
    simulated = Remark(kind=RemarkKind.SIMULATED, text="A model.")
    records = [
        replace(drawn(n, identity=drive(serial=f"S{n}")), environment={"host": "alpha"},
                remarks=(simulated,))
        for n in (1, 2)
    ]  # fmt: skip
    comparison = of(*records)
    assert comparison.hosts == ()
    assert table(comparison) == {}


def test_all_of_it_is_in_japanese_too() -> None:
    comparison = of(made("a", "alpha", *AMPLE), made("b", "beta", *SLOW))
    document = replace(pages(comparison), name="")
    percentiles = {f"latency p{percent}" for percent in ("50", "90", "95", "99", "99.9")}
    data = {"Example Drive", "format", "two cores", "Linux 6.1", *percentiles}
    assert untranslated(document, translator(Language.JAPANESE)) <= data
