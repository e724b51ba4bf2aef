"""The requirements of the PTS as data: which test and version asks for what, and how it is checked.

Nothing here runs. `known` and `unread` say how sure this program is of a requirement.
"""

from teijo.conformance import (
    course_checks,
    depth_checks,
    device_checks,
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

_ALL_OF_THEM = Scope(tests=_IN_CODE)

REQUIREMENTS: tuple[Requirement, ...] = (
    # The device.
    Requirement(
        id="device.whole",
        name="Device under test",
        asked="a whole device",
        check=device_checks.target,
        decisive=True,
    ),
    Requirement(
        id="device.purge",
        name="Purge",
        asked="every LBA as never written: ATA SECURITY ERASE, SCSI FORMAT UNIT or their equal",
        check=device_checks.purge,
        decisive=True,
    ),
    Requirement(
        id="device.cache",
        name="Write cache",
        asked=lambda case: case.version.write_cache,
        check=device_checks.write_cache,
        unread=(Scope(versions=_FIRST_CLIENT),),
    ),
    Requirement(
        id="device.own_io",
        name="No other I/O",
        asked="the device answers, and to this run alone",
        check=device_checks.own_io,
        known="own",
    ),
    # Its preparation.
    Requirement(
        id="wipc.volume",
        name="Preconditioning, volume",
        asked="2 × the user capacity",
        check=preparation_checks.volume,
        unread=(Scope(versions=_CLIENT),),
        tests=_WIPC,
    ),
    Requirement(
        id="wipc.coverage",
        name="Preconditioning, LBAs",
        asked="the whole active range, without LBA restrictions",
        check=preparation_checks.coverage,
        tests=_WIPC,
    ),
    Requirement(
        id="wipc.block",
        name="Preconditioning, stimulus",
        asked=preparation_checks.block_asked,
        check=preparation_checks.block_and_order,
        unread=(
            Scope(versions=_FIRST_CLIENT),
            Scope(tests=frozenset({_TP}), versions=_LATER),
        ),
        tests=_WIPC,
    ),
    Requirement(
        id="wipc.load",
        name="Preconditioning, load",
        asked="the threads and depth of the test",
        check=depth_checks.same_load,
        tests=frozenset({_IOPS}),
    ),
    Requirement(
        id="wipc.delay",
        name="From preconditioning to test",
        asked="no delay and no other I/O",
        check=preparation_checks.no_delay,
        tests=_WIPC,
    ),
    Requirement(
        id="wipc.none",
        name="Preconditioning",
        asked="none: the test begins fresh out of the box",
        check=preparation_checks.none_asked,
        unread=(_ALL_OF_THEM,),
        tests=frozenset({_WSAT, _HIR, _XSR}),
    ),
    # The stimulus.
    Requirement(
        id="stimulus.range",
        name="Active range",
        asked=range_checks.range_asked,
        check=range_checks.active_range,
        unread=(
            _ALL_OF_THEM,
            Scope(tests=frozenset({_WSAT}), versions=_FIRST_CLIENT),
        ),
        optional=True,
    ),
    Requirement(
        id="stimulus.content",
        name="Data pattern",
        asked="random",
        check=stimulus_checks.content,
        optional=True,
    ),
    Requirement(
        id="stimulus.seeds",
        name="Seeds",
        asked="a seedable generator of LBAs; no stimulus repeats another's",
        check=stimulus_checks.seeds,
        known="own",
    ),
    Requirement(
        id="stimulus.cells",
        name="Cells of a round",
        asked=stimulus_checks.cells_asked,
        check=stimulus_checks.cells,
        unread=(Scope(tests=_DEMAND | {_TP}),),
        tests=_ROUNDS,
    ),
    Requirement(
        id="stimulus.minutes",
        name="Length of a minute",
        asked="60 s",
        check=stimulus_checks.minutes,
    ),
    Requirement(
        id="stimulus.one",
        name="Outstanding I/Os",
        asked="one thread of depth one",
        check=depth_checks.single_io,
        tests=frozenset({_LAT}),
    ),
    Requirement(
        id="stimulus.depth",
        name="Depth reached",
        asked=depth_checks.DEPTH_ASKED,
        check=depth_checks.depth,
        known="own",
    ),
    Requirement(
        id="stimulus.failed",
        name="Failed I/Os",
        asked="none",
        check=depth_checks.failed,
        known="own",
        decisive=True,
    ),
    Requirement(
        id="stimulus.rests",
        name="Rest between steps",
        asked="one test loop without a pause; no figure",
        check=stimulus_checks.rests,
        known="own",
    ),
    Requirement(
        id="stimulus.carries_on",
        name="Sequential streams",
        asked="go on from minute to minute",
        check=stimulus_checks.carries_on,
        known="own",
        tests=frozenset({_TP, _XSR}),
    ),
    Requirement(
        id="stimulus.continuous",
        name="Continuous stimulus",
        asked="one stimulus, minute after minute",
        check=stimulus_checks.uninterrupted,
        unread=(_ALL_OF_THEM,),
        tests=_CONTINUOUS,
    ),
    # The course of the test, and its settings.
    Requirement(
        id="course.tracking",
        name="Tracking variables",
        asked=course_checks.tracking_asked,
        check=course_checks.tracking,
        unread=(Scope(tests=_ROUNDS - {_IOPS}),),
        tests=_ROUNDS,
    ),
    Requirement(
        id="course.steady",
        name="Steady state",
        asked="over five rounds range ≤ 20 %, slope ≤ 10 % of the average; else 25 rounds, "
        "marked NO",
        check=course_checks.steadiness,
        unread=(_ALL_OF_THEM,),
        tests=_ROUNDS | {_HIR},
    ),
    Requirement(
        id="course.end",
        name="End of the test",
        asked=course_checks.saturation_asked,
        check=course_checks.saturation_end,
        unread=(Scope(versions=_LATER),),
        tests=frozenset({_WSAT}),
    ),
    Requirement(
        id="course.bursts",
        name="Wait states",
        asked="360 bursts of 5 s in each of five states, then 30 minutes without a rest",
        check=course_checks.bursts,
        known="code",
        tests=frozenset({_HIR}),
    ),
    Requirement(
        id="course.idle",
        name="Idle times",
        asked="5, 10, 15, 25, 50 s after each burst",
        check=course_checks.idle_times,
        known="code",
        tests=frozenset({_HIR}),
    ),
    Requirement(
        id="course.groups",
        name="Groups",
        asked=course_checks.groups_asked,
        check=course_checks.groups,
        known="code",
        tests=frozenset({_XSR}),
    ),
    Requirement(
        id="course.prewrites",
        name="Pre-writes",
        asked="5 minutes of writes before every sweep",
        check=course_checks.prewrites,
        known="code",
        tests=_DEMAND,
    ),
    Requirement(
        id="course.points",
        name="Operating points",
        asked=course_checks.points_asked,
        check=course_checks.points,
        known="code",
        tests=_DEMAND,
    ),
    Requirement(
        id="course.histogram",
        name="Response-time histogram",
        asked="20 min after the test, every I/O counted",
        check=course_checks.histogram,
        known="code",
        tests=frozenset({_LAT, _WSAT}),
        versions=_NEWEST,
    ),
    Requirement(
        id="settings.fixed",
        name="Settings",
        asked="the version's own",
        check=settings_checks.settings,
        known="own",
    ),
    Requirement(
        id="settings.choices",
        name="Operator's choices",
        asked="as recommended; any other is an optional test, disclosed",
        check=settings_checks.choices,
        unread=(
            _ALL_OF_THEM,
            Scope(tests=frozenset({_TP, _WSAT}), versions=_NEWEST),
        ),
        optional=True,
    ),
)
