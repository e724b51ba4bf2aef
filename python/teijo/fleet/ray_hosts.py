"""Hosts of a Ray cluster: one actor a host, which has its hand. The only place that knows Ray.

An actor is begun once and never again by itself, and what goes over the wire is JSON as text: no
object of a plan is pickled. The runs are processes of their own, so that they outlive actor, node
and driver; how they are, their files tell the next actor that is asked.
"""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from teijo.errors import HostError, PlanError, TeijoError
from teijo.fleet.hand import Hand
from teijo.fleet.hosts import Host, HostLost
from teijo.fleet.plan import Plan

LABEL: Final = "teijo-host"
"""The label of a node that says which host of the plan it is."""
LOCAL: Final = "local"
_ANSWER_S: Final = 60.0
"""A host that does not answer for so long is lost: its looks take milliseconds."""
_CONNECT_S: Final = 10.0
_MEMORY_BYTES: Final = 80 << 20
_QUIET: Final = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class Messenger:
    """What an actor is: a hand, asked in JSON. An error that has a class is told by its words."""

    def __init__(self, folder: str) -> None:
        """Take the host's folder of run files, and the pace of other programs: Ray begins its
        processes with a niceness of 15, and the runs would inherit it.
        """
        with suppress(PermissionError):  # only root may
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        self._hand = Hand(Path(folder))

    def ask(self, what: str, given: str) -> bytes:
        """Return the answer of a hand: JSON, or the bytes of a run file behind a b"="."""
        try:
            answer = getattr(self._hand, what)(*json.loads(given))
        except TeijoError as error:
            return json.dumps({"error": error.message, "remedy": error.remedy}).encode()
        except OSError as error:
            return json.dumps({"error": f"{error.strerror}.", "remedy": ""}).encode()
        if isinstance(answer, bytes):
            return b"=" + answer
        return json.dumps({"answer": answer}).encode()


@dataclass(frozen=True)
class RayHost:
    """One host behind its actor."""

    name: str
    _actor: Any

    def ask(self, what: str, *given: Any) -> Any:
        """Return its answer.

        Raises:
            HostLost: it is gone, or does not answer. HostError: it refuses.
        """
        import ray

        try:
            told = ray.get(self._actor.ask.remote(what, json.dumps(given)), timeout=_ANSWER_S)
        except ray.exceptions.GetTimeoutError as error:
            raise HostLost(f"no answer within {_ANSWER_S:.0f} s") from error
        except ray.exceptions.RayError as error:
            raise HostLost(_in_a_line(error)) from error
        if told[:1] == b"=":
            return told[1:]
        answer = json.loads(told)
        if "error" in answer:
            raise HostError(answer["error"], remedy=answer["remedy"])
        return answer["answer"]


@dataclass(frozen=True)
class AbsentHost:
    """A host of a fleet that is no node of the cluster now."""

    name: str

    def ask(self, _what: str, *_given: Any) -> Any:
        """Answer nothing.

        Raises:
            HostLost: always.
        """
        raise HostLost(f"no node of the cluster carries the label {LABEL}={self.name}")


@contextmanager
def ray_hosts(
    plan: Plan, folder: Path, address: str, *, is_begun: bool
) -> Iterator[Mapping[str, Host]]:
    """Reach the hosts of a plan by the nodes of a cluster that carry their labels.

    With the address `local`, a cluster of one node is begun on this machine, for a plan's one host.
    A fleet that was begun goes on without the hosts that are no node now.

    Raises:
        HostError: Ray is missing, or the cluster cannot be reached.
        PlanError: a host of the plan has two nodes, or none where nothing was begun yet.
    """
    if find_spec("ray") is None:
        raise HostError("Ray is missing.", remedy="Install it: pip install 'teijo[fleet]'")
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    _join(ray, plan, address)
    try:
        nodes = _nodes(ray, plan, is_begun=is_begun)
        hosts: dict[str, Host] = {host.name: AbsentHost(host.name) for host in plan.host}
        for host in plan.host:
            if host.name in nodes:
                runs = _runs(host.folder, folder, host.name)
                hosts[host.name] = RayHost(host.name, _actor(ray, nodes[host.name], runs))
        yield hosts
    finally:
        with suppress(Exception):  # a head that was killed is no second error
            ray.shutdown()


def _join(ray: Any, plan: Plan, address: str) -> None:
    if address != LOCAL:
        _check_listens(address)
    _silence()
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address == LOCAL:
            ray.init(
                num_cpus=len(os.sched_getaffinity(0)),
                object_store_memory=_MEMORY_BYTES,
                labels={LABEL: plan.host[0].name},
                **quiet,
            )
        else:
            del quiet["include_dashboard"]
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
        raise _unreached(address, _in_a_line(error)) from error


def _silence() -> None:
    """Keep stdout for data: of a node that it counts as dead Ray prints a paragraph there, which
    no setting of its own turns off. Which host is lost is told here.
    """
    with suppress(ImportError):
        from ray._private import worker

        worker._worker_logs_enabled = False


def _check_listens(address: str) -> None:
    """Make sure that somebody listens at an address: Ray would try for many minutes.

    Raises:
        HostError: nobody does.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise _unreached(address, "an address is HOST:PORT")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise _unreached(address, _in_a_line(error)) from error


def _unreached(address: str, why: str) -> HostError:
    return HostError(
        f"The Ray cluster at {address} cannot be reached: {why}.",
        remedy="Start it on each host, with the same versions of Ray and Python: docs/fleet.md",
    )


def _nodes(ray: Any, plan: Plan, *, is_begun: bool) -> dict[str, str]:
    """Return the node of each host of the plan that has one.

    Raises:
        PlanError: a host has two nodes, or none where nothing was begun yet; with each.
    """
    alive = [node for node in ray.nodes() if node["Alive"]]
    found: dict[str, list[str]] = {host.name: [] for host in plan.host}
    for node in alive:
        label = node.get("Labels", {}).get(LABEL, "")
        if label in found:
            found[label].append(node["NodeID"])
    problems = [
        f"{name}: {len(nodes)} nodes carry the label {LABEL}={name}"
        for name, nodes in found.items()
        if len(nodes) > 1 or not (nodes or is_begun)
    ]
    if problems:
        raise PlanError(
            "Not every host of the plan has one node in the cluster.",
            remedy=f"Start Ray there with its label: ray start … --labels {LABEL}=NAME",
        ).naming(problems)
    return {name: nodes[0] for name, nodes in found.items() if nodes}


def _actor(ray: Any, node: str, runs: Path) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    options = {
        "num_cpus": 0,
        "max_restarts": 0,
        "max_task_retries": 0,
        "scheduling_strategy": NodeAffinitySchedulingStrategy(node_id=node, soft=False),
    }
    return ray.remote(**options)(Messenger).remote(str(runs))


def _runs(named: str, folder: Path, host: str) -> Path:
    """Return where a host keeps its run files: apart from those of others on one machine."""
    return Path(named) if named else folder.absolute() / "hosts" / host


def _in_a_line(error: Exception) -> str:
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return (first.strip() or type(error).__name__).rstrip(".")
