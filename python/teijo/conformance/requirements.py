"""The requirements of the PTS as data: which test and version asks for what, and how it is checked.

Nothing here runs. `known` and `unread` say how sure this program is of a requirement.
"""

from teijo.conformance import (
    course_checks,
    depth_checks,
    device_checks,
    platform_checks,
    preparation_checks,
    range_checks,
    settings_checks,
    stimulus_checks,
)
from teijo.conformance.requirement import Requirement, Scope

_IOPS, _TP, _LAT, _WSAT = "pts.iops", "pts.tp", "pts.lat", "pts.wsat"
_HIR, _XSR = "pts.hir", "pts.xsr"
_DEMAND = frozenset({"pts.dirth", "pts.cbw"})
_WIPC = frozenset({_IOPS, _TP, _LAT})
_ROUNDS = _WIPC | _DEMAND
_CONTINUOUS = frozenset({_WSAT, _HIR, _XSR}) | _DEMAND
_FIRST_CLIENT = frozenset({"1.0-client"})
_CLIENT = frozenset({"1.0-client", "2.0.2-client"})
_LATER = frozenset({"1.1-enterprise", "2.0.2-enterprise", "2.0.2-client"})
_NEWEST = frozenset({"2.0.2-enterprise", "2.0.2-client"})
_IN_CODE = frozenset({_HIR, _XSR}) | _DEMAND
"""Tests of whose text nothing was read: known from implementations alone."""

_ALL_OF_THEM = (Scope(tests=_IN_CODE),)

REQUIREMENTS: tuple[Requirement, ...] = (
    # The device.
    Requirement(
        "device.whole", "Device under test", "a whole device", device_checks.target, decisive=True
    ),
    Requirement(
        "device.purge",
        "Purge",
        "every LBA as never written: ATA SECURITY ERASE, SCSI FORMAT UNIT or their equal",
        device_checks.purge,
        decisive=True,
    ),
    Requirement(
        "device.cache",
        "Write cache",
        lambda case: case.version.write_cache,
        device_checks.write_cache,
        # No text was read that has the cache of a 1.0 client.
        unread=(Scope(versions=_FIRST_CLIENT),),
    ),
    Requirement(
        "device.own_io",
        "No other I/O",
        "the device answers, and to this run alone",
        device_checks.own_io,
        known="own",
    ),
    Requirement(
        "platform.host",
        "Test platform",
        platform_checks.host_asked,
        platform_checks.host,
        # The text that was read names a platform in the report, and has no limit for it.
        known="own",
        advisory=True,
    ),
    # Its preparation.
    Requirement(
        "wipc.volume",
        "Preconditioning, volume",
        "2 × the user capacity",
        preparation_checks.volume,
        # Not read: whether it is twice the capacity or the range, where that is 75 %.
        unread=(Scope(versions=_CLIENT),),
        tests=_WIPC,
    ),
    Requirement(
        "wipc.coverage",
        "Preconditioning, LBAs",
        "the whole active range, without LBA restrictions",
        preparation_checks.coverage,
        tests=_WIPC,
    ),
    Requirement(
        "wipc.block",
        "Preconditioning, stimulus",
        preparation_checks.block_asked,
        preparation_checks.block_and_order,
        # TP's own block size is from implementations: the whitepaper's header has 128 KiB for both.
        unread=(Scope(versions=_FIRST_CLIENT), Scope(tests=frozenset({_TP}), versions=_LATER)),
        tests=_WIPC,
    ),
    Requirement(
        "wipc.load",
        "Preconditioning, load",
        "the threads and depth of the test",
        # Read in the text for IOPS alone.
        depth_checks.same_load,
        tests=frozenset({_IOPS}),
    ),
    Requirement(
        "wipc.delay",
        "From preconditioning to test",
        "no delay and no other I/O",
        preparation_checks.no_delay,
        tests=_WIPC,
    ),
    Requirement(
        "wipc.none",
        "Preconditioning",
        "none: the test begins fresh out of the box",
        preparation_checks.none_asked,
        unread=_ALL_OF_THEM,
        tests=frozenset({_WSAT, _HIR, _XSR}),
    ),
    # The stimulus.
    Requirement(
        "stimulus.range",
        "Active range",
        range_checks.range_asked,
        range_checks.active_range,
        # Whether 1.0 client's amount applies to WSAT is not known.
        unread=(*_ALL_OF_THEM, Scope(tests=frozenset({_WSAT}), versions=_FIRST_CLIENT)),
        optional=True,
    ),
    Requirement(
        "stimulus.content", "Data pattern", "random", stimulus_checks.content, optional=True
    ),
    Requirement(
        "stimulus.seeds",
        "Seeds",
        "a seedable generator of LBAs; no stimulus repeats another's",
        stimulus_checks.seeds,
        known="own",
    ),
    Requirement(
        "stimulus.cells",
        "Cells of a round",
        stimulus_checks.cells_asked,
        stimulus_checks.cells,
        # That reads come before writes in a round of TP was not read.
        unread=(Scope(tests=_DEMAND | {_TP}),),
        tests=_ROUNDS,
    ),
    Requirement("stimulus.minutes", "Length of a minute", "60 s", stimulus_checks.minutes),
    Requirement(
        "stimulus.one",
        "Outstanding I/Os",
        "one thread of depth one",
        depth_checks.single_io,
        tests=frozenset({_LAT}),
    ),
    Requirement(
        "stimulus.depth", "Depth reached", depth_checks.DEPTH_ASKED, depth_checks.depth, known="own"
    ),
    Requirement(
        "stimulus.failed", "Failed I/Os", "none", depth_checks.failed, known="own", decisive=True
    ),
    Requirement(
        "stimulus.rests",
        "Rest between steps",
        "one test loop without a pause; no figure",
        stimulus_checks.rests,
        known="own",
    ),
    Requirement(
        "stimulus.carries_on",
        "Sequential streams",
        "go on from minute to minute",
        # The text on it was not seen; users of other programs call a restart at LBA 0 a defect.
        stimulus_checks.carries_on,
        known="own",
        tests=frozenset({_TP, _XSR}),
    ),
    Requirement(
        "stimulus.continuous",
        "Continuous stimulus",
        "one stimulus, minute after minute",
        stimulus_checks.uninterrupted,
        unread=_ALL_OF_THEM,
        tests=_CONTINUOUS,
    ),
    # The course of the test, and its settings.
    Requirement(
        "course.tracking",
        "Tracking variables",
        course_checks.tracking_asked,
        course_checks.tracking,
        # Read for IOPS; what the others track is from implementations.
        unread=(Scope(tests=_ROUNDS - {_IOPS}),),
        tests=_ROUNDS,
    ),
    Requirement(
        "course.steady",
        "Steady state",
        "over five rounds range ≤ 20 %, slope ≤ 10 % of the average; else 25 rounds, marked NO",
        course_checks.steadiness,
        unread=_ALL_OF_THEM,
        tests=_ROUNDS | {_HIR},
    ),
    Requirement(
        "course.end",
        "End of the test",
        course_checks.saturation_asked,
        course_checks.saturation_end,
        # 1.0's limits are in the whitepaper, the later ones known from implementations.
        unread=(Scope(versions=_LATER),),
        tests=frozenset({_WSAT}),
    ),
    Requirement(
        "course.bursts",
        "Wait states",
        "360 bursts of 5 s in each of five states, then 30 minutes without a rest",
        course_checks.bursts,
        known="code",
        tests=frozenset({_HIR}),
    ),
    Requirement(
        "course.idle",
        "Idle times",
        "5, 10, 15, 25, 50 s after each burst",
        course_checks.idle_times,
        known="code",
        tests=frozenset({_HIR}),
    ),
    Requirement(
        "course.groups",
        "Groups",
        course_checks.groups_asked,
        course_checks.groups,
        known="code",
        tests=frozenset({_XSR}),
    ),
    Requirement(
        "course.prewrites",
        "Pre-writes",
        "5 minutes of writes before every sweep",
        course_checks.prewrites,
        known="code",
        tests=_DEMAND,
    ),
    Requirement(
        "course.points",
        "Operating points",
        course_checks.points_asked,
        course_checks.points,
        known="code",
        tests=_DEMAND,
    ),
    Requirement(
        "course.histogram",
        "Response-time histogram",
        "20 min after the test, every I/O counted",
        course_checks.histogram,
        known="code",
        tests=frozenset({_LAT, _WSAT}),
        versions=_NEWEST,
    ),
    Requirement(
        "settings.fixed", "Settings", "the version's own", settings_checks.settings, known="own"
    ),
    Requirement(
        "settings.choices",
        "Operator's choices",
        "as recommended; any other is an optional test, disclosed",
        settings_checks.choices,
        # The loads of TP and WSAT in 2.0.2 were not read in its text.
        unread=(*_ALL_OF_THEM, Scope(tests=frozenset({_TP, _WSAT}), versions=_NEWEST)),
        optional=True,
    ),
)
