"""The verb `join`: be one of the hosts of a run that another host conducts."""

import os

EXAMPLES = ("teijo join    begun by --host on another host",)


def verb() -> None:
    """Measure for a run that another host conducts, which begins this by its --host."""
    import platform
    import socket

    from teijo.device.shared import join
    from teijo.engine.hosts.wire import Hello
    from teijo.engine.hosts.worker import Worker
    from teijo.runfile import program

    hello = Hello(
        teijo=program.version(),
        build=program.build(),
        host=socket.gethostname(),
        kernel=platform.release(),
        cpus=len(os.sched_getaffinity(0)),
    )
    # Nothing else may speak on the channel: whatever prints, prints on stderr.
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    Worker(source, sink, hello, join).serve()
