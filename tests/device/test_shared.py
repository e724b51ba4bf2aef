"""A file that two hosts have open: measured together, proven the same, lost and gone on with."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.analysis.cross_check import LITTLE_BOUNDS, occupancy_of, stimuli
from teijo.api.sharing import sharing_from
from teijo.device import shared
from teijo.device.hook_consent import Hook
from teijo.device.target import parse_target
from teijo.engine.hosts import wire
from teijo.errors import Interrupted, PlanError, TargetError, UnsafeError
from teijo.runfile import reader
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap
from teijo.terms.shared import hosts_in, parts_in
from teijo.units import MIB, NS_PER_S
from tests.engine.plans import written

SIZE = 8 * MIB
AMOUNT = {"rw": "randrw", "read": "50", "bs": "4KiB", "qd": "4", "bytes": "4MiB"}
SHORT = {"rw": "randrw", "read": "50", "bs": "4KiB", "qd": "4", "seconds": "2"}
PATIENT_NS = 600 * NS_PER_S


def worker(*hows: str) -> str:
    """Return the command of a host that behaves as it is told."""
    return shlex.join([sys.executable, "-m", "tests.device.shared_worker", *hows])


def run(folder: Path, settings: dict[str, str], hosts: tuple[str, ...], **more: Any) -> api.Run:
    return api.run(
        "workload", f"{folder / 'shared.img'}?size={SIZE}", output=folder / "run.teijo",
        settings=settings, seed=5, sharing=sharing_from(hosts, PATIENT_NS), **more,
    )  # fmt: skip


def check_proven(done: api.Run) -> None:
    """Make sure that no number of a run contradicts another, whoever looks at it."""
    kinds = {remark.kind for remark in done.record.remarks}
    assert RemarkKind.RECORD_INCONSISTENT not in kinds
    # By Little's law all hosts together had no more in flight than all of their depths.
    told = occupancy_of(stimuli(done.record.steps)[0])
    assert told is not None
    assert told.quotient <= LITTLE_BOUNDS[1]


def test_two_hosts_move_together_what_one_was_asked_for(scratch: Path) -> None:
    hosts = ("here", f"two={worker()}")
    done = run(scratch, AMOUNT, hosts)
    check_proven(done)
    record = done.record
    (answer,) = record.answers
    assert answer.bytes == 4 * MIB
    parts = parts_in(answer.detail)
    assert [part.name for part in parts] == ["here", "two"]
    assert [part.bytes for part in parts] == [2 * MIB, 2 * MIB]
    for result in answer.results:
        assert result.timed.count == result.count
        tails = [t for part in parts for t in part.tails if t.operation == result.operation]
        assert sum(tail.count for tail in tails) == result.count
        assert result.timed.quantile_ns(0.999) <= max(tail.p999_ns for tail in tails)
    assert [host.name for host in hosts_in(record.environment)] == ["here", "two"]
    assert record.run.engine.startswith("native (2 hosts, ")
    assert answer.witness is None
    text = repr(api.present(record))
    assert "The hosts" in text
    assert "Each host in each step" in text


def test_a_host_killed_in_a_step_makes_it_a_gap_and_the_same_hosts_go_on(scratch: Path) -> None:
    mark = scratch / "dies"
    mark.touch()
    hosts = ("here", f"two={worker(f'dies={mark}')}")
    with pytest.raises(Interrupted, match="Host two went away, last heard of at 20") as lost:
        run(scratch, SHORT, hosts)
    assert lost.value.exit_code == 7
    assert lost.value.remedy.endswith("run.teijo.open --host here --host two=COMMAND")
    assert not mark.exists()
    left = scratch / "run.teijo.open"
    record = reader.read(left)
    assert record.run.ending == "interrupted"
    answer = record.steps[-1].answer
    assert isinstance(answer, Gap)
    assert answer.reason.startswith("Host two went away, last heard of at 20")
    assert [each.kind for each in record.remarks if each.kind is RemarkKind.INTERRUPTED]

    for other in ((), ("here",), ("here", f"three={worker()}")):
        with pytest.raises(PlanError, match="begun by the hosts here, two"):
            api.resume(left, sharing=sharing_from(other))
    done = api.resume(left, sharing=sharing_from((hosts[1], hosts[0]), PATIENT_NS))
    assert done.record.run.ending == "done"
    check_proven(done)
    gaps = [each for each in done.record.steps if isinstance(each.answer, Gap)]
    assert [each.answer for each in gaps] == [answer]
    (result,) = done.record.answers
    assert [part.name for part in parts_in(result.detail)] == ["here", "two"]
    assert all(part.ios for part in parts_in(result.detail))
    text = repr(api.present(done.record))
    assert "Host two went away" in text


def test_a_host_with_a_copy_of_the_file_is_refused(scratch: Path) -> None:
    copy = scratch / "copy.img"
    target = written(scratch / "shared.img", SIZE)
    copy.write_bytes(target.read_bytes())
    hosts = ("here", f"two={worker(f'elsewhere={copy}')}")
    with pytest.raises(TargetError, match="host two is another target than here"):
        run(scratch, AMOUNT, hosts, overwrite=True)
    assert not list(scratch.glob("run.*"))


def test_a_host_with_a_smaller_or_no_file_is_refused(scratch: Path) -> None:
    small = written(scratch / "small.img", SIZE // 2)
    for path, why in ((small, "holds 4194304 B here"), (scratch / "none", "There is no|none")):
        hosts = ("here", f"two={worker(f'elsewhere={path}')}")
        with pytest.raises(TargetError, match=why):
            run(scratch, AMOUNT, hosts)
        assert not (scratch / "shared.img").exists(), "what was made for it is gone"


def test_read_alone_it_is_known_by_its_blocks_and_that_is_said(scratch: Path) -> None:
    target = written(scratch / "shared.img", SIZE)
    before = target.read_bytes()
    hosts = ("here", f"two={worker()}")
    done = run(scratch, AMOUNT | {"rw": "randread", "read": "100"}, hosts)
    assert target.read_bytes() == before
    blind = [each for each in done.record.remarks if each.kind is RemarkKind.CHECK_BLIND]
    assert any("known by its size and 16 blocks" in each.text for each in blind)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sim:mlc-a", "cannot be shared by hosts"),
        ("concat:{0},{1}", "cannot be shared by hosts"),
        ("{0}?direct=no", "the memory of each host"),
    ],
)
def test_what_several_hosts_cannot_have_is_refused(tmp_path: Path, text: str, why: str) -> None:
    files = [tmp_path / name for name in "ab"]
    for each in files:
        each.write_bytes(bytes(MIB))
    target = parse_target(text.format(*files))
    with pytest.raises(PlanError, match=why):
        shared.check_can_be_shared(target, "native", None)


def test_another_engine_and_a_hook_are_of_one_host(tmp_path: Path) -> None:
    target = parse_target(f"{tmp_path / 'a'}?size=1MiB")
    with pytest.raises(PlanError, match="Engine fio"):
        shared.check_can_be_shared(target, "fio", None)
    hook: Any = object.__new__(Hook)
    with pytest.raises(PlanError, match="A hook"):
        shared.check_can_be_shared(target, "native", hook)
    assert shared.check_can_be_shared(target, "native", None) == str(tmp_path / "a")


def asked(path: Path, **changes: Any) -> wire.Open:
    given: dict[str, Any] = {
        "number": 1, "target": str(path), "write": True, "destroy": "", "capacity_bytes": SIZE,
        "logical_block_bytes": 512, "probes": (0, 4096), "silence_ns": NS_PER_S,
    } | changes  # fmt: skip
    return wire.Open(**given)


def test_a_worker_takes_no_file_that_a_loop_device_stands_on(
    scratch: Path, loop_device: Path
) -> None:
    backing = scratch / "backing"
    with pytest.raises(UnsafeError, match="is what loop"):
        shared.join(asked(backing, capacity_bytes=backing.stat().st_size))


def test_a_worker_opens_a_block_device_only_with_the_consent_to_it(loop_device: Path) -> None:
    size = 64 * MIB
    with pytest.raises(UnsafeError):
        shared.join(asked(loop_device, capacity_bytes=size))
    shared.join(asked(loop_device, capacity_bytes=size, write=False)).close()
    from teijo.device.opening import inspect_target

    consent = inspect_target(str(loop_device)).destroy
    joined = shared.join(asked(loop_device, capacity_bytes=size, destroy=consent))
    try:
        assert len(joined.digests) == 2
    finally:
        joined.close()


def test_two_hosts_of_one_kernel_cannot_both_claim_a_device_and_one_of_here_need_not(
    scratch: Path, loop_device: Path
) -> None:
    from teijo.device.opening import inspect_target

    consent = inspect_target(str(loop_device)).destroy

    def begun(hosts: tuple[str, ...]) -> api.Run:
        return api.run(
            "workload", str(loop_device), output=scratch / "run.teijo", settings=AMOUNT,
            destroy=consent, sharing=sharing_from(hosts, PATIENT_NS),
        )  # fmt: skip

    with pytest.raises(UnsafeError, match="two: "):
        begun(("here", f"two={worker()}"))
    done = begun(("here",))
    (answer,) = done.record.answers
    assert answer.bytes == 4 * MIB
    assert "kernel_writes" not in answer.health_after


@pytest.mark.parametrize(
    ("hosts", "why"),
    [
        (("here", "here"), "here is named twice"),
        (("rack2",), "'rack2' names no host"),
        (("here=ssh rack2",), "names no host"),
        (("a b=ssh",), "names no host"),
        (("rack2=",), "has no command"),
        (("rack2=ssh 'rack2",), "quotation that does not end"),
        (tuple(f"h{n}=x" for n in range(65)), "65 hosts are named"),
    ],
)
def test_a_host_that_cannot_be_meant_is_refused(hosts: tuple[str, ...], why: str) -> None:
    with pytest.raises(PlanError, match=why):
        sharing_from(hosts)


def test_a_command_is_split_into_words_and_no_shell_sees_it() -> None:
    given = sharing_from(("rack2=ssh -o 'ProxyCommand=a b' rack2 teijo; rm -rf $HOME",))
    assert given is not None
    words = ("ssh", "-o", "ProxyCommand=a b", "rack2", "teijo;", "rm", "-rf", "$HOME", "join")
    assert given.guests[0].words == words
    assert os.environ["HOME"] not in given.guests[0].words
