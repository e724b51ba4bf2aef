"""Sample documents for the printers: IOPS (whitepaper figure 11), WSAT and a free workload.

The matrix is measured data of the whitepaper; rounds around it are drawn by a fixed formula.
"""

import math

from teijo.document.model import (
    Axis,
    Bars3D,
    Column,
    Document,
    Facts,
    Header,
    HeaderGroup,
    Note,
    Paragraph,
    Rule,
    Section,
    Series,
    Span,
    Table,
    Verdict,
    XYChart,
)

MIXES = ("0/100", "5/95", "35/65", "50/50", "65/35", "95/5", "100/0")
SIZES = ("0.5", "4", "8", "16", "32", "64", "128", "1024")
MATRIX = (
    (1122.3, 1162.2, 1654.6, 1965.6, 2717.7, 11970.0, 29860.1),
    (3147.0, 2896.6, 3044.4, 3454.4, 3779.3, 13005.8, 29876.3),
    (1584.9, 1589.7, 2055.0, 2238.9, 2898.1, 11568.2, 21723.1),
    (765.8, 786.3, 1028.1, 1272.6, 1604.9, 6208.3, 12482.5),
    (392.7, 401.0, 525.8, 652.7, 963.8, 4129.6, 7011.6),
    (196.4, 205.9, 291.3, 352.3, 565.4, 2372.7, 3791.5),
    (92.5, 97.1, 139.9, 185.4, 377.9, 1410.2, 2015.3),
    (16.4, 16.5, 23.3, 27.3, 90.8, 191.4, 266.7),
)
TRACKED = (("RND 4 KiB, R/W 0/100", 3147.0), ("RND 64 KiB, R/W 65/35", 565.4),
           ("RND 1024 KiB, R/W 100/0", 266.7))  # fmt: skip


def header(
    title: str = "PTS IOPS", *, model: str = "MLC-A 256 GB", stamp: str = "", rounds: int = 6
) -> Header:
    return Header(
        title=title,
        subtitle="Client, IOPS loop",
        organisation="SNIA SSS PTS",
        revision="PTS 2.0.2",
        top=(
            ("Test run date", "2026-11-20 09:14"),
            ("Report run date", "2026-11-21 18:02"),
            ("Vendor", "Example Semiconductor"),
            ("Model", model),
            ("Tested by", "Storage laboratory"),
        ),
        groups=(
            HeaderGroup(title="DUT", tone="dut", rows=(
                ("Serial no", "S3X9NX0H401842"), ("Firmware", "EXM02B6Q"),
                ("Capacity", "256 GB"), ("Interface", "SATA 6 Gb/s"), ("NAND type", "MLC"),
                ("Write cache", "enabled"), ("Test platform", "RTP 4.0"),
            )),
            HeaderGroup(title="DUT preparation", tone="preparation", rows=(
                ("Purge", "ATA SECURITY ERASE UNIT"), ("WIPC", "2 × SEQ 128 KiB write"),
                ("WIPC OIO", "TC 2 × QD 16"), ("WDPC", "full IOPS loop"),
            )),
            HeaderGroup(title="Test loop parameters", tone="test", rows=(
                ("Data pattern", "random"), ("R/W mix", "7, outer loop"),
                ("Block size", "8, inner loop"), ("Thread count", "2"),
                ("Queue depth", "16"), ("Active range", "75 %"),
            )),
            HeaderGroup(title="Steady state", tone="steady", rows=(
                ("Convergence", "YES"), ("Rounds", f"{rounds - 4}–{rounds} of {rounds}"),
                ("AR amount", "192 GB"), ("AR segments", "1"),
            )),
        ),
        stamp=stamp,
    )  # fmt: skip


def settled(level: float, round_number: int, phase: float = 0.0) -> float:
    """A tracked value in a round: falls towards its level, with a little ripple."""
    ripple = 0.012 * math.sin(2.1 * round_number + phase)
    return level * (1 + 0.55 * math.exp(-3.2 * (round_number - 1)) + ripple)


def iops_document(rounds: int = 6, **named: str) -> Document:
    """PTS IOPS as a method would say it: plots 1 to 8 of the standard's order, then the rest."""
    return Document(
        name="pts-iops-mlc-a",
        header=header(rounds=rounds, **named),
        sections=(
            _summary(rounds),
            _convergence(rounds),
            *(_window(name, level, rounds) for name, level in TRACKED),
            _matrix_table(),
            _matrix_plot(),
            _matrix_bars(),
            _remarks(),
            _environment(),
        ),
    )


def _summary(rounds: int) -> Section:
    return Section(
        title="Summary",
        blocks=(
            Verdict(text=f"STEADY STATE: YES, rounds {rounds - 4}–{rounds}", good=True),
            Paragraph(
                text="Random IOPS over eight block sizes and seven read/write mixes, averaged over "
                "the five rounds of the measurement window."
            ),
            Table(
                columns=(
                    Column(name="Tracking variable"), Column(name="Average", unit="IOPS", digits=1),
                    Column(name="Data excursion", unit="%", digits=2),
                    Column(name="Slope excursion", unit="%", digits=2), Column(name="Steady"),
                ),
                rows=tuple((name, level, 5.4969, 3.071, "yes") for name, level in TRACKED),
                caption="Determination of the steady state",
            ),
        ),
    )  # fmt: skip


def _convergence(rounds: int) -> Section:
    numbers = tuple(range(1, rounds + 1))
    series = tuple(
        Series(
            name=f"{size} KiB",
            x=numbers,
            y=tuple(settled(row[0], number, place) for number in numbers),
        )
        for place, (size, row) in enumerate(zip(SIZES, MATRIX, strict=True))
    )
    table = Table(
        columns=(
            Column(name="Round"), *(Column(name=s.name, unit="IOPS", digits=1) for s in series)
        ),
        rows=tuple((n, *(s.y[n - 1] for s in series)) for n in numbers),
        caption="IOPS at R/W 0/100 by round",
    )  # fmt: skip
    chart = XYChart(
        title="Steady state convergence: IOPS at R/W 0/100",
        x=Axis(name="Round", from_zero=False),
        y=Axis(name="IOPS", scale="log"),
        series=series,
        table=table,
        spans=(Span(name="measurement window", first=rounds - 4.2, last=rounds + 0.2),),
    )
    return Section(title="Steady state convergence", label="Plot 1", blocks=(chart,))


def _window(name: str, level: float, rounds: int) -> Section:
    numbers = tuple(range(rounds - 4, rounds + 1))
    values = tuple(settled(level, number) for number in numbers)
    average = sum(values) / 5
    slope = sum((place - 2) * (value - average) for place, value in enumerate(values)) / 10
    line = tuple(average + slope * (place - 2) for place in range(5))
    chart = XYChart(
        title=f"Measurement window: {name}",
        x=Axis(name="Round", from_zero=False),
        y=Axis(name="IOPS", from_zero=False),
        series=(
            Series(name=name, x=numbers, y=values, style="points"),
            Series(name="least-squares line", x=numbers, y=line, style="dashed"),
        ),
        rules=(
            Rule(name="average", value=average, style="solid"),
            Rule(name="110 %", value=average * 1.1, style="dotted"),
            Rule(name="90 %", value=average * 0.9, style="dotted"),
        ),
        table=Table(
            columns=(
                Column(name="Round"), Column(name="Measured", unit="IOPS", digits=1),
                Column(name="Line", unit="IOPS", digits=1),
            ),
            rows=tuple(zip(numbers, values, line, strict=True)),
        ),
        note="The limits are on the range and on the line, not on the distance from the average.",
    )  # fmt: skip
    facts = Facts(
        caption="Determination",
        rows=(
            ("Average", f"{average:,.6f} IOPS"),
            ("Data excursion", f"{max(values) - min(values):,.4f} ≤ {average * 0.2:,.4f} IOPS"),
            ("Slope excursion", f"{abs(slope) * 4:,.4f} ≤ {average * 0.1:,.4f} IOPS"),
            ("Least-squares line", f"{slope:.6f} · round + {average - slope * numbers[2]:.6f}"),
        ),
    )
    return Section(title=f"Steady state window, {name}", label="Plot 3", blocks=(chart, facts))


def matrix_table(*, folded: bool = False) -> Table:
    return Table(
        columns=(
            Column(name="Block size", unit="KiB"), *(Column(name=m, digits=1) for m in MIXES)
        ),
        rows=tuple((size, *row) for size, row in zip(SIZES, MATRIX, strict=True)),
        caption="IOPS by block size and R/W mix",
        marked=((1, 1), (5, 5), (7, 7)),
        folded=folded,
    )  # fmt: skip


def _matrix_table() -> Section:
    return Section(title="IOPS table", label="Plot 4", blocks=(matrix_table(),))


def _matrix_plot() -> Section:
    chart = XYChart(
        title="IOPS against block size",
        x=Axis(name="Block size", unit="KiB", scale="log"),
        y=Axis(name="IOPS", scale="log"),
        series=tuple(
            Series(
                name=f"R/W {mix}",
                x=tuple(float(size) for size in SIZES),
                y=tuple(row[place] for row in MATRIX),
            )
            for place, mix in enumerate(MIXES)
        ),
        table=matrix_table(folded=True),
    )
    return Section(title="IOPS, 2-D plot", label="Plot 5", blocks=(chart,))


def bars() -> Bars3D:
    return Bars3D(
        title="IOPS by block size and R/W mix",
        rows=Axis(name="Block size", unit="KiB", scale="category"),
        row_places=SIZES,
        columns=Axis(name="R/W mix", scale="category"),
        column_places=MIXES,
        z=Axis(name="IOPS"),
        values=MATRIX,
        table=matrix_table(),
    )


def _matrix_bars() -> Section:
    return Section(title="IOPS, 3-D plot", label="Plot 6", blocks=(bars(),))


def _remarks() -> Section:
    return Section(
        title="Remarks",
        blocks=(
            Note(kind="simulated", text="The device is simulated; its parameters are calibrated.",
                 remedy="Do not publish these numbers as those of a drive."),
            Note(kind="capacity scaled", text="Every volume was divided by 64.",
                 remedy="Run at full size to compare with other laboratories.", step=3),
        ),
    )  # fmt: skip


def _environment() -> Section:
    return Section(
        title="Environment",
        blocks=(
            Facts(
                caption="Host",
                rows=(("Operating system", "Debian GNU/Linux 12"), ("Kernel", "6.18.5"),
                      ("CPU", "2 × vCPU"), ("Memory", "8 GiB"), ("Engine", "native, io_uring")),
            ),
        ),
    )  # fmt: skip


def wsat_iops(minute: int) -> float:
    """An SLC drive's write saturation: a plateau of 56,000 IOPS, then down to 19,000."""
    fall = 1 / (1 + math.exp((minute - 260) / 34))
    dip = 0.9 if minute % 97 == 0 else 1.0
    return (19_000 + 37_000 * fall + 260 * math.sin(minute * 1.7)) * dip


def wsat_document(minutes: int = 1440) -> Document:
    """PTS WSAT: IOPS against time, linear and log, and against TGBW; a long folded table."""
    times = tuple(range(1, minutes + 1))
    values = tuple(wsat_iops(minute) for minute in times)
    written = tuple(minute * 1.31 for minute in times)
    table = Table(
        columns=(
            Column(name="Minute"), Column(name="IOPS", digits=0),
            Column(name="TGBW", unit="GB", digits=1),
        ),
        rows=tuple(zip(times, values, written, strict=True)),
        caption="Every minute",
        folded=True,
    )  # fmt: skip
    time, tgbw = Axis(name="Time", unit="min"), Axis(name="TGBW", unit="GB")
    plots = (
        ("IOPS against time", time, times, Axis(name="IOPS")),
        ("IOPS against time, log", time, times, Axis(name="IOPS", scale="log")),
        ("IOPS against TGBW", tgbw, written, Axis(name="IOPS")),
    )
    sections = tuple(
        Section(
            title=title,
            label=f"Plot {place}",
            blocks=(
                XYChart(
                    title=title,
                    x=x,
                    y=y,
                    series=(Series(name="RND 4 KiB write", x=xs, y=values, style="line"),),
                    rules=(
                        Rule(name="steady 19,000", value=19_000.0),
                        Rule(name="steady state", value=xs[420 * minutes // 1440], at="x"),
                    ),
                    table=table,
                ),
            ),
        )
        for place, (title, x, xs, y) in enumerate(plots, start=1)
    )
    verdict = Verdict(text="STEADY STATE: NO, the last five rounds are reported", good=False)
    summary = Section(title="Summary", blocks=(verdict,))
    return Document(
        name="pts-wsat-slc-a",
        header=header("PTS WSAT", model="SLC-A 400 GB", stamp="SIMULATED DEVICE"),
        sections=(summary, *sections),
    )


def workload_document() -> Document:
    """A free workload of ten seconds: figures, every second, and the latency's distribution."""
    seconds = tuple(range(1, 11))
    rates = tuple(81_000 + 900 * math.sin(second) for second in seconds)
    shares = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999)
    latencies = (311.0, 420.0, 688.0, 1204.0, 4410.0, None)
    return Document(
        name="workload",
        header=Header(
            title="Workload", subtitle="RND 4 KiB, R/W 100/0, TC 1 × QD 32", organisation="",
            revision="", top=(("Run", "2026-11-21 18:02"), ("Target", "disk.img?size=8GiB")),
            groups=(HeaderGroup(title="Target", tone="dut", rows=(("Kind", "file"),)),),
        ),
        sections=(
            Section(title="Result", blocks=(
                Verdict(text="81,012 IOPS, 331.8 MB/s, p99 688 µs", good=None),
                Table(
                    columns=(
                        Column(name="Direction"), Column(name="IOPS", digits=0),
                        Column(name="Throughput", unit="MB/s", digits=1),
                        Column(name="p99", unit="µs", digits=1),
                        Column(name="p99.999", unit="µs", digits=1),
                    ),
                    rows=(("read", 81012.4, 331.83, 688.0, None),),
                ),
                XYChart(
                    title="IOPS by second", x=Axis(name="Time", unit="s"), y=Axis(name="IOPS"),
                    series=(Series(name="read", x=seconds, y=rates, style="line"),),
                    table=Table(
                        columns=(Column(name="Second"), Column(name="IOPS", digits=0)),
                        rows=tuple(zip(seconds, rates, strict=True)),
                    ),
                ),
                XYChart(
                    title="Latency by percentile", x=Axis(name="Percentile", scale="category"),
                    y=Axis(name="Latency", unit="µs", scale="log"),
                    series=(Series(
                        name="read", x=tuple(f"{share:g}" for share in shares), y=latencies,
                    ),),
                    table=Table(
                        columns=(Column(name="Percentile"),
                                 Column(name="Latency", unit="µs", digits=1)),
                        rows=tuple(zip((f"{s:g}" for s in shares), latencies, strict=True)),
                    ),
                ),
            )),
        ),
    )  # fmt: skip
