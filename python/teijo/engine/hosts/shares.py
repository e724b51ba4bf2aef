"""One plan divided among hosts: what is a load is each host's, what is an amount is shared."""

from dataclasses import replace
from itertools import pairwise

from teijo.engine.plan import Plan, StreamPlan
from teijo.errors import PlanError
from teijo.terms.seed import derive
from teijo.terms.workload import Access


def check_shareable(plan: Plan) -> None:
    """Refuse a plan that loses its sense when several hosts carry it out.

    Raises:
        PlanError: what one host writes another would have to know, or each block is to be
            touched once.
    """
    for placed in plan.streams:
        if placed.verify is not None:
            raise PlanError(
                f"Stream {placed.stream.name} is verified, and no host knows what the others wrote",
                remedy="Leave the verification away, or measure from one host.",
            )
        if placed.stream.access is Access.SHUFFLED:
            raise PlanError(
                f"Stream {placed.stream.name} touches each block once, in an order that several "
                "hosts cannot share",
                remedy="Choose random or sequential offsets, or measure from one host.",
            )


def divided(plan: Plan, hosts: int) -> tuple[Plan, ...]:
    """Return the plan of each host.

    Threads and depth are each host's own; bytes and rates are divided. Each host draws its offsets
    and contents from a seed of its own, the first from that of the plan. A sequential stream of the
    host in place i (from 0) begins i parts of the range ahead, where all hosts have one part.

    Raises:
        PlanError: there are fewer blocks to move than hosts.
    """
    amounts = _amounts(plan, hosts)
    return tuple(
        replace(
            plan,
            total_bytes=amounts[place],
            streams=tuple(_stream(each, place, hosts) for each in plan.streams),
        )
        for place in range(hosts)
    )


def _amounts(plan: Plan, hosts: int) -> list[int | None]:
    """Return how many bytes each host moves: whole blocks, and in the last place the rest too."""
    if plan.total_bytes is None:
        return [None] * hosts
    block_bytes = max(placed.stream.block_size_bytes for placed in plan.streams)
    blocks, rest_bytes = divmod(plan.total_bytes, block_bytes)
    if blocks < hosts > 1:
        raise PlanError(
            f"{plan.total_bytes} B are fewer blocks of {block_bytes} B than there are hosts: "
            f"{hosts}",
            remedy="Move more, or measure from fewer hosts.",
        )
    borders = [blocks * place // hosts for place in range(hosts + 1)]
    amounts = [(end - begin) * block_bytes for begin, end in pairwise(borders)]
    return [*amounts[:-1], amounts[-1] + rest_bytes]


def _stream(placed: StreamPlan, place: int, hosts: int) -> StreamPlan:
    stream, rate = placed.stream, placed.stream.rate
    if rate is not None:
        share = replace(rate, ios_per_second=rate.ios_per_second / hosts)
        stream = replace(stream, rate=share)
    if place == 0:
        return replace(placed, stream=stream)
    cursor_bytes = placed.cursor_bytes
    if stream.access is Access.SEQUENTIAL:
        blocks = placed.segments * placed.segment_bytes // stream.block_size_bytes
        ahead_bytes = blocks * place // hosts * stream.block_size_bytes
        cursor_bytes = (cursor_bytes + ahead_bytes) % (blocks * stream.block_size_bytes)
    seed = derive(placed.seed, "host", place)
    return replace(placed, stream=stream, cursor_bytes=cursor_bytes, seed=seed)
