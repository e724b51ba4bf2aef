"""A request to stop that another process leaves beside a run file: whose it is, and for whom."""

import os
from pathlib import Path

from teijo.runfile import stop_request
from teijo.runfile.names import Names


def test_a_request_to_stop_is_believed_of_this_user_and_for_this_run_alone(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "a")
    assert stop_request.asked(names, "r1") == 0
    stop_request.ask(names, "r1")
    stop_request.ask(names, "r1")
    assert (stop_request.asked(names, "r1"), stop_request.asked(names, "r2")) == (2, 0)
    stop_request.clear(names, "r2")
    assert names.stop.exists()
    kept = names.stop.rename(tmp_path / "kept")
    names.stop.symlink_to(kept)
    assert stop_request.asked(names, "r1") == 0
    names.stop.unlink()
    os.mkfifo(names.stop)
    assert stop_request.asked(names, "r1") == 0
    names.stop.unlink()
    names.stop.write_bytes(b"r1 \xff")
    assert stop_request.asked(names, "r1") == 0
    if os.geteuid() == 0:
        names.stop.write_text("r1 1\n")
        os.chown(names.stop, 65534, 65534)
        assert stop_request.asked(names, "r1") == 0
