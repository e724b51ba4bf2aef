"""What is done with a fleet: looked over, begun, gone on with. Refused before the first write."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

from teijo.errors import DeviceError, HostError, Interrupted, PlanError, TeijoError
from teijo.fleet import consent as consents
from teijo.fleet import manifest as manifests
from teijo.fleet.conductor import Conductor, Drive, Observer
from teijo.fleet.consent import Consent
from teijo.fleet.drives import Meant, Told, meant_by, missing_serials
from teijo.fleet.hand import Hand
from teijo.fleet.hosts import Host, HostLost, ThisHost
from teijo.fleet.manifest import RUNS, HostSeen, Manifest
from teijo.fleet.order import NOBODY, Order
from teijo.fleet.plan import Plan
from teijo.outside.text import shell_path
from teijo.runfile import program

Hosts = Mapping[str, Host]
_SEED: Final = re.compile(r"\bseed=\d+")


@dataclass(frozen=True, kw_only=True)
class Overview:
    """A plan on its hosts as they are now: its drives, what each takes, and all that is wrong.

    `examined` has what `Hand.examine` found of each drive, by its number.
    """

    plan: Plan
    seed: int
    told: Mapping[str, Told]
    orders: Sequence[Order]
    examined: Mapping[int, Mapping[str, Any]]
    problems: Sequence[str]

    @property
    def serials(self) -> list[str]:
        """The serials of all drives that would be destroyed."""
        return [order.serial for order in self.orders if order.serial]


@contextmanager
def hosts_of(
    plan: Plan, folder: Path, address: str = "", *, is_begun: bool = False
) -> Iterator[Hosts]:
    """Reach the hosts of a plan: this machine, or those of a Ray cluster.

    Of a fleet that was begun, a host may be away: it is lost until it is back.

    Raises:
        PlanError: it has several, and no cluster is named.
        HostError: the cluster cannot be reached, or Ray is not installed.
    """
    if address:
        from teijo.fleet.ray_hosts import ray_hosts

        with ray_hosts(plan, folder, address, is_begun=is_begun) as hosts:
            yield hosts
        return
    if len(plan.host) > 1:
        raise PlanError(
            f"The plan has {len(plan.host)} hosts, and they are reached through Ray.",
            remedy="Name the cluster: --address HOST:6379, or `local` for one on this machine; "
            "docs/fleet.md says how one is started.",
        )
    (host,) = plan.host
    runs = Path(host.folder).absolute() if host.folder else folder.absolute() / RUNS
    hand = Hand(runs)
    try:
        yield {host.name: ThisHost(host.name, hand)}
    finally:
        hand.leave()


def look_over(plan: Plan, hosts: Hosts, seed: int | None = None) -> Overview:
    """Return what a plan would be on its hosts now. Only asks, and names all that is wrong."""
    seed = manifests.new_seed(plan) if seed is None else seed
    told, meant = _meant_now(plan, hosts, seed)
    problems = [*meant.problems]
    examined = _examined(hosts, meant.orders)
    problems += _told_once(meant.orders, examined)
    return Overview(
        plan=plan, seed=seed, told=told, orders=meant.orders, examined=examined, problems=problems
    )


def drives_now(plan: Plan, hosts: Hosts, seed: int) -> Sequence[Order]:
    """Return the drives that a plan means on its hosts now.

    Raises:
        PlanError: a host does not answer, or drives are not there, or in use.
    """
    _, meant = _meant_now(plan, hosts, seed)
    if meant.problems:
        raise PlanError(
            "The drives of the plan cannot be read.",
            remedy="Mend what is named, in the plan or on the hosts.",
        ).naming(meant.problems)
    return meant.orders


def _meant_now(plan: Plan, hosts: Hosts, seed: int) -> tuple[dict[str, Told], Meant]:
    """Return what each host tells, and the drives that a plan means, with what is wrong."""
    told: dict[str, Told] = {}
    problems: list[str] = []
    for name, host in hosts.items():
        try:
            told[name] = host.ask("told")
        except HostLost as error:
            problems.append(f"{name} does not answer: {error}")
    problems += _skew(told)
    meant = meant_by(plan, told, seed)
    problems += meant.problems
    # Where one is silent, the drive may be there.
    if len(told) == len(hosts):
        problems += [f"No host has a drive {each}" for each in missing_serials(plan, meant.orders)]
    return told, Meant(orders=meant.orders, problems=problems)


def _skew(told: Mapping[str, Told]) -> Iterator[str]:
    """Yield the hosts that run another program than this one, by the digest of its code."""
    own = program.build()
    for name, each in told.items():
        if each["build"] != own:
            yield (
                f"{name} has another Teijo: {each['teijo']}, build {each['build']}; here it is "
                f"{program.version()}, build {own}"
            )


def _examined(hosts: Hosts, orders: Sequence[Order]) -> dict[int, Mapping[str, Any]]:
    """Return what each run takes; simulated ones that differ in their seed alone, once."""
    found: dict[int, Mapping[str, Any]] = {}
    same: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for order in orders:
        target = (
            _SEED.sub("seed=", order.target) if order.target.startswith("sim:") else order.target
        )
        key = (order.host, target, *(f"{name}={text}" for name, text in order.settings.items()))
        if key not in same:
            try:
                same[key] = hosts[order.host].ask("examine", order.model_dump(mode="json"))
            except HostLost as error:
                same[key] = {"problem": f"the host does not answer: {error}"}
        found[order.number] = same[key]
    return found


def _told_once(orders: Sequence[Order], examined: Mapping[int, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what stands against runs: the same of several drives of a host, once."""
    touched: dict[tuple[str, str], list[str]] = {}
    for order in orders:
        if why := examined[order.number]["problem"]:
            touched.setdefault((order.host, why), []).append(order.name)
    for (host, why), names in touched.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{names[0]}{more} on {host}: {why}"


def begin(
    seen: Overview,
    hosts: Hosts,
    folder: Path,
    *,
    consent: Consent | None,
    observer: Observer,
    stop: Event,
    removes: bool = False,
    overwrites: bool = False,
    reach: Mapping[str, str] = NOBODY,
) -> Conductor:
    """Carry a plan out that was looked over; return how it went.

    `reach` has the command that leads to each host which shares a target of another.

    Raises:
        PlanError, UnsafeError: something is wrong, or not consented to; nothing was written.
        Interrupted: it was stopped, or a host was lost: it can be resumed.
        DeviceError: drives failed.
    """
    _refuse(seen, consent)
    _check_reached(seen.orders, reach)
    _prepare(hosts)
    manifest = Manifest(
        digest=seen.plan.digest,
        plan=seen.plan,
        seed=seen.seed,
        hosts={name: _seen(told) for name, told in seen.told.items()},
        orders=tuple(seen.orders),
    )
    manifests.write_manifest(folder, manifest)
    how = {"removes": removes, "overwrites": overwrites, "reach": reach}
    return _conduct(manifest, hosts, folder, observer, stop, how)


def resume(
    manifest: Manifest,
    hosts: Hosts,
    folder: Path,
    *,
    consent: Consent | None,
    observer: Observer,
    stop: Event,
    removes: bool = False,
    overwrites: bool = False,
    reach: Mapping[str, str] = NOBODY,
) -> Conductor:
    """Go on with what of a fleet is not done; return how it went.

    Raises:
        As `begin`.
    """
    manifests.check_own(folder)
    serials = [order.serial for order in manifest.orders if order.serial]
    consents.refuse(consents.objections(manifest.plan, serials, consent))
    _check_reached(manifest.orders, reach)
    problems: list[str] = []
    for name, host in hosts.items():
        try:
            problems += _skew({name: host.ask("told")})
        except HostLost:
            continue  # the others go on; what it has not done is told in the end
    if problems:
        raise PlanError(
            "The fleet cannot go on.", remedy="Install one Teijo on all hosts, and here."
        ).naming(problems)
    how = {"removes": removes, "overwrites": overwrites, "reach": reach}
    return _conduct(manifest, hosts, folder, observer, stop, how)


def looked_at(manifest: Manifest, hosts: Hosts, folder: Path) -> Conductor:
    """Return how far a fleet is, by its run files; nothing is begun."""
    conductor = Conductor(
        manifest.plan, [Drive(order) for order in manifest.orders], hosts, folder / RUNS,
        _unobserved, Event(),
    )  # fmt: skip
    conductor.look()
    return conductor


def _unobserved(_conductor: Conductor, _drive: Drive | None, _word: str) -> None:
    """Take no notice."""


def _prepare(hosts: Hosts) -> None:
    """Let every host make the folder of its run files.

    Raises:
        HostError: one cannot, or does not answer any more.
    """
    unready: list[str] = []
    silent: list[str] = []
    for name, host in hosts.items():
        try:
            if why := host.ask("prepare"):
                unready.append(f"{name}: {why}")
        except HostLost as error:
            silent.append(f"{name} does not answer: {error}")
    if silent:
        raise HostError(
            "The fleet cannot begin; nothing was written.",
            remedy="Mend what is named, in the plan or on the hosts.",
        ).naming(silent)
    if unready:
        raise HostError(
            "Not every host can keep run files.", remedy="Name other folders in the plan."
        ).naming(unready)


def _seen(told: Told) -> HostSeen:
    return HostSeen(**{key: told[key] for key in HostSeen.model_fields})


def _refuse(seen: Overview, consent: Consent | None) -> None:
    """Refuse to begin, with the list of all that is wrong.

    Raises:
        PlanError: something of the plan, or of a host, is. UnsafeError: consent is missing.
    """
    lacking = consents.objections(seen.plan, seen.serials, consent)
    if seen.problems:
        raise PlanError(
            "The fleet cannot begin; nothing was written.",
            remedy="Mend what is named, in the plan or on the hosts.",
        ).naming([*seen.problems, *lacking])
    consents.refuse(lacking)


def _check_reached(orders: Sequence[Order], reach: Mapping[str, str]) -> None:
    """Make sure that a person said how each host is reached which shares a target, and no other.

    Raises:
        PlanError: nobody did, or of a host that shares none; with each.
    """
    sharing = {name for order in orders for name in order.shared_by}
    problems = [f"{name}: nobody says how it is reached" for name in sorted(sharing - set(reach))]
    problems += [f"{name}: it shares no target" for name in sorted(set(reach) - sharing)]
    if problems:
        raise PlanError(
            "The hosts that share a target are not those of --reach; nothing was written.",
            remedy="Add --reach 'NAME=ssh NAME teijo' for each of them, and for no other.",
        ).naming(problems)


def _conduct(
    manifest: Manifest,
    hosts: Hosts,
    folder: Path,
    observer: Observer,
    stop: Event,
    how: Mapping[str, Any],
) -> Conductor:
    conductor = Conductor(
        manifest.plan, [Drive(order) for order in manifest.orders], hosts, folder / RUNS,
        observer, stop, **how,
    )  # fmt: skip
    conductor.conduct()
    if (error := _ended_with(conductor, folder)) is not None:
        raise error
    return conductor


def _ended_with(fleet: Conductor, folder: Path) -> TeijoError | None:
    """Return what is to be said of a fleet that did not end as it should."""
    unfinished = [
        f"{drive.order.name} on {drive.order.host}: {drive.standing}"
        for drive in fleet.drives
        if drive.standing in ("waiting", "starting", "running", "left")
    ]
    lost = [f"{name} does not answer: {why}" for name, why in fleet.lost.items()]
    if unfinished or lost:
        return Interrupted(
            f"{len(unfinished)} of {len(fleet.drives)} drives are not done.",
            remedy=f"Go on with them: teijo fleet resume {shell_path(folder)}",
        ).naming([*lost, *unfinished])
    failed = [
        f"{drive.order.name} on {drive.order.host}: {drive.told or drive.ending}"
        for drive in fleet.drives
        if drive.standing in ("failed", "refused")
    ]
    in_their_place = sum(
        drive.order.is_spare and drive.standing == "done" for drive in fleet.drives
    )
    if len(failed) > in_their_place:
        return DeviceError(
            f"{len(failed)} of {len(fleet.drives)} drives have no result.",
            remedy="Their run files say what happened: teijo list",
        ).naming(failed)
    if fleet.troubles:
        return HostError(
            "Not every run file could be collected.",
            remedy=f"Go on with them: teijo fleet resume {shell_path(folder)}",
        ).naming(fleet.troubles)
    return None
