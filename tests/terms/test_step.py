"""Steps are JSON and back, the same text for the same step."""

import pydantic
import pytest

from teijo.terms.step import (
    Configure,
    Idle,
    Measure,
    Precondition,
    Purge,
    step_from_json,
    step_to_json,
)
from teijo.terms.workload import Access, ActiveRange, Content, Rate, Schedule, Stream, Workload

STREAM = Stream(
    read_percent=65,
    block_size_bytes=65536,
    access=Access.SEQUENTIAL,
    threads=2,
    queue_depth=16,
    active_range=ActiveRange(share_percent=75, amount_bytes=1 << 33, segments=2048),
    content=Content.ZERO,
    rate=Rate(ios_per_second=12.5, schedule=Schedule.POISSON),
)
WORKLOAD = Workload(streams=(STREAM,))
STEPS = [
    Purge(),
    Precondition(workload=WORKLOAD, total_bytes=1 << 60),
    Measure(workload=WORKLOAD, duration_ns=60_000_000_000, round_number=3, cell="65/35 64 KiB"),
    Measure(workload=WORKLOAD, duration_ns=1, continues=True, open_ended=True),
    Idle(duration_ns=5, round_number=1),
    Configure(settings=(("chunk", "64KiB"), ("cache", "WB")), device="sim:mlc-a", cell="64KiB WB"),
    Configure(settings=(), hook=("./apply", "--fast"), round_number=2),
]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_json_and_back(step):
    assert step_from_json(step_to_json(step)) == step
    assert step_to_json(step_from_json(step_to_json(step))) == step_to_json(step)


def test_the_kind_tells_the_steps_apart():
    assert len({step_to_json(step) for step in STEPS}) == len(STEPS)
    assert len({step.kind for step in STEPS}) == 5


def test_the_settings_of_a_configuration_are_one_line():
    assert Configure(settings=(("chunk", "64KiB"), ("cache", "WB"))).text == "chunk=64KiB, cache=WB"
    assert Configure(settings=()).text == "as it is"


@pytest.mark.parametrize("text", ["", "{}", '{"kind":"dance"}', '{"kind":"idle"}'])
def test_what_is_no_step_is_refused(text):
    with pytest.raises(pydantic.ValidationError):
        step_from_json(text)
