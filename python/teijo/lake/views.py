"""The questions that people have of a lake, as views, and percentiles of histograms as macros.

A run has a figure of a cell once, so that rows of figures are runs; drives are counted in the runs.
"""

from typing import Final

_SLOWER: Final = "CASE more_is_faster WHEN true THEN 1 - now / before ELSE now / before - 1 END"
"""How much slower it is, as a share of what it was: of a rate what is missing, of a time what is
added."""
_PLACE: Final = "method, part, cell, figure, unit"

MODEL_OVER_TIME: Final = f"""
WITH counted AS (
    SELECT model, method, month, count(DISTINCT serial) AS drives FROM runs
    GROUP BY model, method, month
), each AS (
    SELECT model, {_PLACE}, month, count(*) AS runs,
        min(value) AS least, median(value) AS median, max(value) AS most
    FROM figures GROUP BY model, {_PLACE}, month
)
SELECT model, {_PLACE}, month, runs, drives, least, median, most
FROM each JOIN counted USING (model, method, month)
ORDER BY model, {_PLACE}, month
"""

FIRMWARE_AGAINST_FIRMWARE: Final = f"""
WITH counted AS (
    SELECT model, method, firmware, count(DISTINCT serial) AS drives, min(started_at) AS first
    FROM runs WHERE firmware <> '' GROUP BY model, method, firmware
), quartiles AS (
    SELECT model, {_PLACE}, firmware, count(*) AS runs,
        quantile_cont(value, [0.25, 0.5, 0.75]) AS quartile
    FROM figures WHERE firmware <> '' GROUP BY model, {_PLACE}, firmware
), each AS (FROM quartiles JOIN counted USING (model, method, firmware))
SELECT model, {_PLACE}, a.firmware AS firmware_a, b.firmware AS firmware_b,
    a.runs AS runs_a, b.runs AS runs_b, a.drives AS drives_a, b.drives AS drives_b,
    a.quartile[2] AS median_a, b.quartile[2] AS median_b,
    a.quartile[1] AS low_a, a.quartile[3] AS high_a,
    b.quartile[1] AS low_b, b.quartile[3] AS high_b,
    100 * (b.quartile[2] / nullif(a.quartile[2], 0) - 1) AS change_percent
FROM each AS a JOIN each AS b USING (model, {_PLACE})
WHERE (a.first, a.firmware) < (b.first, b.firmware)
ORDER BY model, {_PLACE}, a.first, b.first
"""

_BEFORE: Final = "FILTER (year(started_at) < d.year)"
_NOW: Final = "FILTER (year(started_at) = d.year)"
SLOWER_THAN_LAST_YEAR: Final = f"""
WITH drives AS (
    SELECT model, serial, method, max(year(started_at)) AS year, row_number() OVER () AS drive
    FROM runs WHERE serial <> '' GROUP BY model, serial, method
    HAVING list_contains(list(year(started_at)), max(year(started_at)) - 1)
), each AS (
    SELECT drive, d.year, part, cell, figure, unit, more_is_faster,
        count(*) {_BEFORE} AS runs_before, count(*) {_NOW} AS runs_now,
        avg(value) {_BEFORE} AS before, avg(value) {_NOW} AS now,
        min(low) {_BEFORE} AS low_before, max(high) {_BEFORE} AS high_before,
        min(low) {_NOW} AS low_now, max(high) {_NOW} AS high_now
    FROM figures JOIN drives AS d USING (model, serial, method)
    WHERE low IS NOT NULL AND more_is_faster IS NOT NULL AND year(started_at) >= d.year - 1
    GROUP BY ALL
)
SELECT model, serial, {_PLACE}, year, runs_before, runs_now, before, now,
    100 * ({_SLOWER}) AS slower_percent
FROM each JOIN drives USING (drive, year)
WHERE CASE more_is_faster WHEN true THEN high_now < low_before ELSE low_now > high_before END
    AND before > 0 AND now > 0
ORDER BY slower_percent DESC, model, serial, {_PLACE}
"""
"""Of the last year in which a drive was measured and the one before. A drive whose intervals reach
into each other may be as it was, and without an interval nothing can be said of a single drive.

A drive has a number here, for its texts would be in each of many groups.
"""

THROTTLED_RUNS: Final = """
SELECT r.started_at, r.model, r.serial, r.firmware, r.host, r.method, r.verdict, r.run_id,
    count(m.run_id) AS steps, min(m.text) AS first_words,
    r.group_campaign, r.group_fleet, r.group_host, r.group_drive
FROM runs AS r LEFT JOIN remarks AS m ON m.run_id = r.run_id AND m.remark = 'throttled'
WHERE r.throttled
GROUP BY ALL
ORDER BY r.started_at DESC, r.run_id
"""

FLEET_SPREAD: Final = f"""
WITH counted AS (
    SELECT group_campaign, group_fleet, model, method, count(DISTINCT serial) AS drives FROM runs
    GROUP BY group_campaign, group_fleet, model, method
), each AS (
    SELECT group_campaign, group_fleet, model, {_PLACE}, count(*) AS runs,
        min(value) AS least, median(value) AS median, max(value) AS most,
        arg_min(serial, value) AS of_least, arg_max(serial, value) AS of_most,
        bool_and(more_is_faster) AS is_rate, bool_or(more_is_faster) AS is_some_rate
    FROM figures WHERE group_campaign <> '' OR group_fleet <> ''
    GROUP BY group_campaign, group_fleet, model, {_PLACE}
)
SELECT group_campaign, group_fleet, model, {_PLACE}, runs, drives, least, median, most,
    100 * (most - least) / nullif(median, 0) AS spread_percent,
    CASE WHEN is_rate THEN of_least WHEN NOT is_some_rate THEN of_most END AS slowest_drive
FROM each JOIN counted USING (group_campaign, group_fleet, model, method)
ORDER BY group_campaign, group_fleet, model, {_PLACE}
"""

VIEWS: Final = {
    "model_over_time": MODEL_OVER_TIME,
    "firmware_against_firmware": FIRMWARE_AGAINST_FIRMWARE,
    "slower_than_last_year": SLOWER_THAN_LAST_YEAR,
    "throttled_runs": THROTTLED_RUNS,
    "fleet_spread": FLEET_SPREAD,
}
"""By their names, in the order of the report."""

_RANK: Final = "greatest(1, ceil({share} * {all} - 1e-9))"
"""That of the operation whose latency `share` did not exceed; 0.07 of 100 is rank 7, not 8."""
_HALF_WIDTH: Final = "(1::BIGINT << greatest(0, length(bin({low})) - 11)) // 2"
"""Half of a bucket of three significant digits (HdrHistogram), by its lowest latency."""

MACROS: Final = (
    # A running sum over the buckets in their order ends at the one that holds the rank.
    "CREATE MACRO percentile_ns(share, bucket_ns, number) AS list_reduce("
    "list_sort(list({'low': bucket_ns, 'up_to': number::HUGEINT})), "
    "lambda reached, next: CASE WHEN reached.up_to >= "
    + _RANK.format(share="share", all="sum(number)")
    + " THEN reached ELSE {'low': next.low, 'up_to': reached.up_to + next.up_to} END).low",
    "CREATE MACRO bucket_middle_ns(low) AS low + " + _HALF_WIDTH.format(low="low"),
    "CREATE MACRO percentiles(histogram, shares) AS TABLE "
    'WITH summed AS (SELECT bucket_ns, sum("count") AS number FROM query_table(histogram) '
    "GROUP BY bucket_ns), running AS (SELECT bucket_ns, "
    "sum(number) OVER (ORDER BY bucket_ns) AS up_to, sum(number) OVER () AS whole FROM summed) "
    "SELECT share, min(bucket_ns) AS bucket_ns, bucket_middle_ns(min(bucket_ns)) AS latency_ns "
    "FROM running, (SELECT unnest(shares)::DOUBLE AS share) WHERE up_to >= "
    + _RANK.format(share="share", all="whole")
    + " GROUP BY share ORDER BY share",
)
"""`percentile_ns(share, bucket_ns, "count")` is an aggregate; `percentiles('name', [shares])` is a
table, which sums first and so takes any number of histograms."""
