"""What DiskSpd says of its input and of the host, as text."""

from teijo.personas.diskspd.command import CACHED, Command, size_text
from teijo.personas.diskspd.host import Host


def profile_text(command: Command) -> str:
    """Return the command line and the input parameters."""
    lines = ["", f"Command Line: {command.line}", "", "Input parameters:", ""]
    if command.verbose:
        lines.append("\tusing verbose mode")
    lines += ["\ttimespan:   1", "\t-------------", *_span(command)]
    for target in command.targets:
        lines += _target(command, target)
    return "\n".join(lines) + "\n\n"


def _span(command: Command) -> list[str]:
    lines = [
        f"\tduration: {command.duration}s",
        f"\twarm up time: {command.warm_up}s",
        f"\tcool down time: {command.cool_down}s",
    ]
    if command.no_affinity:
        lines.append("\taffinity disabled")
    if command.latency:
        lines.append("\tmeasuring latency")
    if command.deviations:
        lines.append(f"\tgathering IOPS at intervals of {command.bucket_ms}ms")
    lines.append(f"\trandom seed: {command.seed}")
    if command.threads:
        lines += [
            f"\tthread pool with {command.threads} threads",
            f"\tnumber of outstanding I/O operations per thread: {command.requests}",
        ]
    if command.random_data:
        lines += [
            "\tgenerating random data for each write IO",
            "\t  WARNING: this increases the CPU cost of issuing writes and should only",
            "\t           be compared to other results using the -Zr flag",
        ]
    return lines


def _target(command: Command, path: str) -> list[str]:
    lines = [
        f"\tpath: '{path}'",
        "\t\tthink time: 0ms",
        "\t\tburst size: 0",
        *_caches(command),
        *_buffer(command),
        f"\t\t{_mix(command)}",
        f"\t\tblock size: {size_text(command.block)}",
        f"\t\t{_order(command)}",
    ]
    if command.threads and command.requests:
        lines.append("\t\trelative IO weight in thread pool: 1")
    else:
        depth = command.outstanding
        lines.append(f"\t\tnumber of outstanding I/O operations per thread: {depth}")
    for what, size in (
        ("base file offset", command.base),
        ("max file size", command.end),
        ("thread stride size", command.stride),
    ):
        if size:
            lines.append(f"\t\t{what}: {size_text(size)}")
    if not command.threads:
        lines.append(f"\t\tthreads per file: {command.threads_per_target}")
        if command.outstanding > 1:
            way = (
                "completion routines (ReadFileEx/WriteFileEx)"
                if command.routines
                else "I/O Completion Ports"
            )
            lines.append(f"\t\tusing {way}")
    lines.append("\t\tIO priority: normal")
    return lines


def _caches(command: Command) -> list[str]:
    cached = command.cache == CACHED
    lines = ["\t\tusing software cache" if cached else "\t\tsoftware cache disabled"]
    if not command.write_through:
        lines.append("\t\tusing hardware write cache, writethrough off")
    elif cached:
        lines.append("\t\thardware and software write caches disabled, writethrough on")
    else:
        lines.append("\t\thardware write cache disabled, writethrough on")
    return lines


def _buffer(command: Command) -> list[str]:
    lines = ["\t\tzeroing write buffers"] if command.zero else []
    if command.buffer_bytes:
        lines += [
            f"\t\twrite buffer size: {size_text(command.buffer_bytes)}",
            "\t\twrite buffer source: random fill",
        ]
    return lines


def _mix(command: Command) -> str:
    if command.write == 0:
        return "performing read test"
    if command.write == 100:
        return "performing write test"
    return f"performing mix test (read/write ratio: {100 - command.write}/{command.write})"


def _order(command: Command) -> str:
    grid = size_text(command.grid)
    if command.random:
        return f"using random I/O (alignment: {grid})"
    return f"using{' interlocked' if command.interlocked else ''} sequential I/O (stride: {grid})"


def system_text(host: Host) -> str:
    """Return what is said of the host."""
    return "\n".join(
        (
            "System information:",
            "",
            f"\tcomputer name: {host.name}",
            f"\tstart time: {host.started}",
            "",
            f"\tcpu count:\t\t{len(host.processors)}",
            f"\tcore count:\t\t{len(host.cores)}",
            "\tgroup count:\t\t1",
            f"\tnode count:\t\t{len(host.nodes)}",
            f"\tsocket count:\t\t{len(host.sockets)}",
            "\theterogeneous cores:\tn",
            "",
            f"\tactive power scheme:\t{host.scheme}",
            "",
        )
    )
