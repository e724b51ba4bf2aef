"""What drives share in the report of a fleet: every verdict with its number, in Japanese too."""

from dataclasses import replace

import pytest

from teijo.analysis.bottleneck import Bottlenecks
from teijo.compare.fleet.for_programs import fleet_json
from teijo.compare.fleet.pages import pages
from teijo.compare.fleet.sharing import document_of, parts_words, section, unknown_words
from teijo.report import html, text
from teijo.report.language import Language, translator
from teijo.terms.bottleneck import Driven, Measured, Seen
from teijo.terms.topology import KINDS, Part, Way
from tests.analysis.drawn_spells import blank, measured, replaced
from tests.compare.fleet.test_pages import full
from tests.report.english import untranslated

PAIR = ("a", "b")
ABCD = ("a", "b", "c", "d")


def with_drives(found: Measured, **more: Seen) -> Measured:
    return found.model_copy(update={"hosts": {"here": {**found.hosts["here"], **more}}})


def every() -> list[Bottlenecks]:
    """Return measurements that have between them every verdict and every note."""
    found = measured([PAIR, ABCD], {PAIR: 0.4, ABCD: 0.4}, scatter=0.005, usable=40_000_000)
    way = found.hosts["here"]["a"].way
    failed = replaced(found, "random", "a", Driven(error="5 reads failed"))
    told = with_drives(
        failed, b=Seen(way=way, unwritten=0.25), z=Seen(way=Way(), why_not="it is simulated, and "
                                                        "shares nothing with another drive"),
    )  # fmt: skip
    return [
        Bottlenecks(each)
        for each in (
            found,
            told,
            measured([ABCD], {ABCD: 0.06}, scatter=0.1),
            measured([PAIR], {PAIR: 0.5}, scatter=0.01, busy=0.96),
            measured([PAIR], {PAIR: 0.5}, scatter=0.01, limited=frozenset({2})),
            measured([PAIR], {}, scatter=0.01, limited=frozenset({1})),
            measured([PAIR], {}, scatter=0.01),
            measured([PAIR], {}, rounds=3),
            blank([PAIR], left_out=PAIR),
        )
    ]


def said(found: Bottlenecks) -> str:
    return text.render(document_of(found), language=Language.ENGLISH)


def test_a_verdict_is_said_with_the_bound_it_goes_by() -> None:
    shares = measured([PAIR], {PAIR: 0.5}, scatter=0.01)
    page = said(Bottlenecks(shares))
    (random,) = [each for each in Bottlenecks(shares).shared if each.load == "random"]
    high = random.comparisons[0].high
    assert high is not None
    least = float(page.split("shares a bottleneck: by at least ")[1].split(" %")[0])
    bounds = [100 * (1 - each.high) for one in Bottlenecks(shares).shared
              for each in one.comparisons if each.high is not None]  # fmt: skip
    assert least == pytest.approx(bounds[0], abs=0.1)
    assert least <= bounds[0]
    page = said(Bottlenecks(measured([PAIR], {}, scatter=0.01)))
    most = float(page.split("does not share one: by less than ")[1].split(" %")[0])
    lows = [100 * (1 - each.low) for one in
            Bottlenecks(measured([PAIR], {}, scatter=0.01)).shared
            for each in one.comparisons if each.low is not None]  # fmt: skip
    assert lows[0] <= most <= lows[0] + 0.11
    assert "None loses 5 % by the others." in " ".join(page.split())


def test_the_sum_stands_beside_what_the_link_carries() -> None:
    found = Bottlenecks(measured([PAIR], {PAIR: 0.5}, usable=round(2 * 5000 * 4096 / 0.95)))
    page = " ".join(said(found).split())
    assert "41.0 MB/s together, 81.9 MB/s if each is alone." in page
    assert "They share a bottleneck: 2 of 2 lose by the others." in page
    assert "That is 95 % of what their link carries. The link is at its bound." in page


def test_what_was_never_written_and_who_was_not_read_is_said() -> None:
    page = " ".join(said(every()[1]).split())
    assert "Of b on here 25 % was never written" in page
    assert "z on here was not read: it is simulated" in page
    assert "cannot be known: 5 reads failed" in page


def test_every_text_has_its_japanese() -> None:
    words = translator(Language.JAPANESE)
    for found in every():
        assert untranslated(document_of(found), words) == set()
    for kind in KINDS:
        part = Part(kind=kind, name="7", detail="x", link="8.0 GT/s x8", usable=10**9)
        for phrase in (parts_words([part]), unknown_words(kind, ["a"])):
            shown = words.text(phrase)
            assert shown != phrase, kind
            assert kind not in shown or kind in ("iSCSI session",), shown


def test_a_fleets_report_has_the_page_and_its_first_chart_once() -> None:
    bare = full()
    with_page = replace(bare, sharing=(every()[0],))
    titles = [each.title for each in pages(with_page).sections]
    assert titles.count("What drives share") == 1
    assert "What drives share" not in [each.title for each in pages(bare).sections]
    page = html.render(pages(with_page))
    assert page.count("<figcaption>The drives, all figures together") == 1
    assert section(every()[0]) in pages(with_page).sections
    told = fleet_json(with_page)["sharing"]
    assert [each["load"] for each in told[0]["verdicts"]] == ["sequential", "random"] * 2
    assert fleet_json(bare)["sharing"] == []
