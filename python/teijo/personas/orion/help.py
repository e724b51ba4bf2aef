"""What `orion -help` says here: the options of each version, in words of our own."""

from typing import Final

from teijo.personas.orion.output import VERSIONS

_USAGE: Final = """\
ORION: ORacle IO Numbers -- Version {version}

Reads <testname>.lun in the present folder: a block device or a file on each line.
Leaves <testname>{dated}_summary.txt, _mbps.csv, _iops.csv, _lat.csv,{own} _trace.txt.

Mandatory:
{mandatory}
Optional:
{optional}
With a value, the usual one in brackets. Of Teijo's own, before orion: --like 10.2, 11.1 or 12.2,
--destroy SERIAL to write to a device, --overwrite to write to a file, --report html.
"""
_RUN: Final = ("-run", "simple, normal{later} or advanced")
_TESTNAME: Final = ("-testname", "what .lun and all files are called{usual}")
_DISKS: Final = ("-num_disks", "what the loads grow with{usual}")
_OPTIONAL: Final = (
    ("-size_small", "KB of a small I/O [8]"),
    ("-size_large", "KB of a large I/O [1024]"),
    ("-type", "rand or seq: the order of large I/Os [rand]"),
    ("-num_streamIO", "I/Os in flight of each large sequential stream [4]"),
    ("-simulate", "concat or raid0: how the lines of .lun are one volume [concat]"),
    ("-stripe", "KB of a stripe of raid0 [1024]"),
    ("-write", "percent of writes; they destroy what there is [0]"),
    ("-cache_size", "MB moved before each large sequential point, 0 for none [two minutes]"),
    ("-duration", "seconds of a point [60]"),
    ("-matrix", "of advanced: basic, detailed, point, col, row or max [basic]"),
    ("-num_small", "small I/Os in flight, of point, col and max"),
    ("-num_large", "large I/Os or streams in flight, of point, row and max"),
    ("-verbose", "print the trace too"),
)
_LATER: Final = (
    ("-storax", "skgfr alone [skgfr]"),
    ("-hugenotneeded", "taken and ignored: no huge pages are needed"),
)


def help_text(like: str) -> str:
    """Return the help of a version."""
    early = like == "10.2"
    run = (_RUN[0], _RUN[1].format(later="" if early else ", oltp, dss"))
    testname = (_TESTNAME[0], _TESTNAME[1].format(usual="" if early else " [orion]"))
    disks = (_DISKS[0], _DISKS[1].format(usual="" if early else " [the lines of .lun]"))
    optional = (*_OPTIONAL, *(_LATER if like == "12.2" else ()))
    return _USAGE.format(
        version=VERSIONS[like],
        dated="" if early else "_<date>_<time>",
        own={"10.2": " _tradeoff.csv,", "12.2": " _hist.txt,"}.get(like, ""),
        mandatory=_lines((run, testname, disks) if early else (run,)),
        optional=_lines(optional if early else (testname, disks, *optional)),
    )


def _lines(options: tuple[tuple[str, str], ...]) -> str:
    return "".join(f"  {name:<16}{text}\n" for name, text in options)
