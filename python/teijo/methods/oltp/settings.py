"""What an OLTP load is: which transactions, how many a second, on how much data."""

from typing import Annotated

from teijo import units
from teijo.methods.databases import SERVER
from teijo.methods.forms import DURATION, ON_OFF, OnOff, one_of, percent, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.terms.work import TransactionKind


class OltpSettings(Settings, frozen=True):
    """The load, the server, and for how long."""

    load: Annotated[TransactionKind, Knob(one_of("tpcb", "key-value"), "load=tpcb")] = meaning(
        "tpcb: three updates, a select and an insert; key-value: one row each", "tpcb"
    )
    server: Annotated[str, Knob(SERVER, "server=postgresql")] = meaning(
        "sqlite, mariadb or postgresql, private on the directory, or the URL of one that runs",
        "sqlite",
    )
    rate_per_second: Annotated[int, Knob(whole(0, units.MEGA), "rate=200")] = meaning(
        "how many arrive in a second on average, at random times; 0: each after the last", 100
    )
    clients: Annotated[int, Knob(whole(1, 256), "clients=16")] = meaning(
        "how many connections carry them out", 8
    )
    duration_ns: Annotated[int, Knob(DURATION, "seconds=60s")] = meaning(
        "how long a pass is", 30 * units.NS_PER_S
    )
    passes: Annotated[int, Knob(whole(1, 100), "passes=5")] = meaning(
        "how often it is done, on the same tables", 3
    )
    rows: Annotated[int, Knob(whole(1, 100 * units.MEGA), "rows=1000000")] = meaning(
        "how many accounts or keys there are; a branch has 100,000 accounts", 100_000
    )
    row_bytes: Annotated[int, Knob(whole(1, 10_000), "row_bytes=100")] = meaning(
        "how many bytes of filling each of them has", 100
    )
    read_percent: Annotated[int, Knob(percent(0, 100), "read=95")] = meaning(
        "how many of a key-value load only read", 50
    )
    working_set_percent: Annotated[int, Knob(percent(1, 100), "working_set=10")] = meaning(
        "from which share of the rows the keys are drawn", 100
    )
    durable: Annotated[OnOff, Knob(ON_OFF, "durable=off")] = meaning(
        "off: the private server flushes nothing to the disk", "on"
    )
