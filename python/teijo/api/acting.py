"""What touches a device: run, resume. And preview, which only asks how large it is."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from teijo.api import reading
from teijo.api.reading import Run
from teijo.api.sharing import same_hosts
from teijo.compare.limit import FACT, fact_of, limits_from, recorded_limits
from teijo.device import (
    Hook,
    Survey,
    hook_to_resume,
    hook_to_run,
    open_on_hosts,
    open_target,
    survey,
)
from teijo.device.cache_hold import CacheWish
from teijo.device.device import Device
from teijo.device.marker import Holder
from teijo.device.memory_limit import MemoryLimit
from teijo.device.sessions import Engine
from teijo.device.target import check_work
from teijo.engine.hosts.party import Sharing
from teijo.errors import HostError, Interrupted, PlanError, RunFileError, StoppedAtOnce, TeijoError
from teijo.methods.knobs import checked_words
from teijo.methods.method import AnyMethod, cache_of, hook_of, memory_of, purge_by, settings_on
from teijo.methods.registry import method_named
from teijo.methods.settings import Settings
from teijo.outside.secret import check_receiver
from teijo.runfile import reader
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.runner import run as acts
from teijo.runner.events import HookNamed, Observer, laying_out, unobserved
from teijo.runner.interrupt import Interrupt
from teijo.runner.pinning import CPUS, Cpus, kept_among, recorded, shown_with_nodes, split_cpus
from teijo.terms.drive_warning import accepted
from teijo.terms.geometry import Geometry
from teijo.terms.provenance import Group, GroupName
from teijo.terms.record import Record
from teijo.terms.run_note import RunNote, as_facts
from teijo.terms.step import Configure, Step

if TYPE_CHECKING:
    from teijo.device.purging.offer import Offer
    from teijo.runner.extent import Preview
    from teijo.runner.paper import Rates

_PAPER = Geometry(capacity_bytes=2**50, nominal_capacity_bytes=2**50)
"""Large enough for every setting: what a method writes does not depend on the device's size."""


def run(
    method: str,
    target: str | Survey,
    *,
    output: Path | str,
    spec: str = "",
    settings: Mapping[str, str] | None = None,
    seed: int | None = None,
    destroy: str | None = None,
    overwrite: bool = False,
    engine: Engine = "native",
    max_drive_writes: float | None = None,
    accept_warnings: Sequence[str] = (),
    hook: str | None = None,
    limits: Sequence[str] = (),
    notes: Mapping[str, str] | None = None,
    group: Mapping[str, str] | None = None,
    io_timeout_ns: int = acts.IO_TIMEOUT_NS,
    hold: bool = False,
    sharing: Sharing | None = None,
    observer: Observer = unobserved,
    interrupt: Interrupt | None = None,
) -> Run:
    """Measure a target by a method, and return the run from its sealed file.

    `settings` are as `--set` has them, `destroy` is the serial to overwrite ("S1,S2" of several,
    and of all that a purge by its method takes), `hook` a digest, `max_drive_writes` in user
    capacities; `io_timeout_ns` bounds each I/O; `hold` waits to be told when (runner/hold.py). The
    hosts of `sharing` measure it together.

    Raises:
        TeijoError: by class, see errors.py; what was measured is in the run file.
    """
    accept, (said, belongs) = accepted(accept_warnings), _checked(notes or {}, group or {})
    chosen, seed, run_id = method_named(method), _seed(seed), acts.new_run_id()
    seen = survey(target, settings) if isinstance(target, str) else target
    numbers, cpus = _evaluated(chosen, spec := spec or chosen.default_spec, seen)
    consented = _shown(hook_to_run(hook_of(numbers), hook), observer)
    Names.of(output).check_free()  # before a target is laid out, which takes long
    _check_ahead(chosen, numbers, seen.geometry, max_drive_writes, limits := limits_from(limits))
    opened = partial(
        _opener(sharing), seen,
        write=chosen.writes(numbers), destroy=destroy, overwrite=overwrite, engine=engine,
        results=(Path(output).absolute().parent,),
        holder=_holder(run_id, Names.of(output)),
        progress=laying_out(observer),
        accept=accept,
        hook=consented,
        cache=_cache(numbers),
        purge_by=purge_by(numbers),
        silence_ns=io_timeout_ns,
    )  # fmt: skip
    with _closed_unless_stuck(_heard(opened, stop := interrupt or Interrupt()), cpus) as device:
        if device.geometry != seen.geometry:  # a file's blocks are known once it is open
            numbers, _ = _evaluated(chosen, spec, replace(seen, geometry=device.geometry))
        order = acts.Order(
            method=chosen, spec=spec, settings=numbers, seed=seed,
            device=device, output=Path(output), engine=engine,
            max_drive_writes=max_drive_writes,
            run_id=run_id,
            hook=consented,
            facts=_facts(limits, cpus) | said,
            group=belongs,
            io_timeout_ns=io_timeout_ns, hold=hold,
        )  # fmt: skip
        return reading.open(acts.begin(order, observer, stop))


def resume(
    path: Path | str,
    *,
    destroy: str | None = None,
    overwrite: bool = False,
    max_drive_writes: float | None = None,
    accept_warnings: Sequence[str] = (),
    hook: str | None = None,
    server: str | None = None,
    limits: Sequence[str] = (),
    io_timeout_ns: int = acts.IO_TIMEOUT_NS,
    sharing: Sharing | None = None,
    observer: Observer = unobserved,
    interrupt: Interrupt | None = None,
) -> Run:
    """Carry on a run that was interrupted or killed; consent to write is asked again.

    `max_drive_writes` is another limit of all that is written, `limits` are asked beside the run's
    own. Only the `hook` of this digest is run; only this `server` gets the environment's password.
    A run that hosts share is carried on by the same ones.

    Raises:
        UnsafeError: the file is not the caller's alone, or names another hook or server.
        RunFileError: the file is sealed, in use, or of a version that asks for other steps.
        IdentityError: it is not the device the run began on. Others: as `run`.
    """
    accept, limits, stop = accepted(accept_warnings), limits_from(limits), interrupt or Interrupt()
    with closing(Recorder.reopen(path)) as recorder:
        record = reader.read(recorder.names.open)
        limits = tuple(dict.fromkeys((*recorded_limits(record), *limits)))
        if record.run.ending not in ("running", "interrupted"):
            _note(recorder, limits)
            return reading.open(recorder.seal())  # it had ended; only its sealing was cut short
        method = method_named(record.run.method)
        settings = method.settings_from(record.run.settings)
        consented = _consented(record, recorder, settings, hook=hook, server=server, seen=observer)
        opening = _opener(same_hosts(sharing, record))
        with _closed_unless_stuck(
            _heard(
                lambda: opening(
                    record.identity.target,
                    write=method.writes(settings), destroy=destroy, overwrite=overwrite,
                    make=overwrite,  # a file from anybody makes no target without consent
                    results=(recorder.names.sealed.absolute().parent,),
                    holder=_holder(record.run.id, recorder.names),
                    accept=accept,
                    engine="fio" if record.run.engine.startswith("fio") else "native",
                    hook=consented,
                    cache=_cache(settings),
                    purge_by=purge_by(settings), silence_ns=io_timeout_ns,
                ),
                stop,
            ),
            recorded(record.environment),
        ) as device:  # fmt: skip
            _note(recorder, limits)
            return reading.open(
                acts.resume(
                    record,
                    recorder,
                    method,
                    settings,
                    device,
                    observer,
                    stop,
                    max_drive_writes=max_drive_writes,
                    hook=consented,
                    io_timeout_ns=io_timeout_ns,
                )
            )


def _evaluated(method: AnyMethod, spec: str, seen: Survey) -> tuple[Settings, Cpus]:
    """Return the settings of a method on what was surveyed, and the processors it is kept on."""
    check_work(seen.target, method.work)
    given, cpus = split_cpus(seen.settings)
    return settings_on(method, spec, given, seen.geometry, seen.facts), cpus


def _opener(sharing: Sharing | None) -> Callable[..., Device]:
    return open_target if sharing is None else partial(open_on_hosts, sharing)


def _cache(settings: Settings) -> CacheWish | None:
    asked = cache_of(settings)
    return None if asked is None else CacheWish(state=asked[0], must=asked[1])


def _heard(opening: Callable[[], Device], interrupt: Interrupt) -> Device:
    """Open a device; a request to stop ends that at once, also while it does not answer."""
    try:
        with interrupt.listening(), interrupt.waiting():
            interrupt.check()
            return opening()
    except StoppedAtOnce as stop:
        error = Interrupted(
            f"Stopped by {interrupt.reason or 'a signal'}. {stop.what}",
            remedy="Nothing was measured. Look at the kernel's log (dmesg) for the device.",
        )
        error.has_stuck_ios = True
        raise error from stop


@contextmanager
def _closed_unless_stuck(device: Device, cpus: Cpus) -> Iterator[Device]:
    """Keep to processors, and close a device in the end.

    One that does not answer would not answer to that either.

    It stays open then, and claimed, until the end of the process.
    """
    try:
        with kept_among(cpus):
            yield device
    except TeijoError as error:
        if not error.has_stuck_ios:
            device.close()
        raise
    except BaseException:
        device.close()
        raise
    device.close()


def _checked(notes: Mapping[str, str], group: Mapping[str, str]) -> tuple[dict[str, str], Group]:
    """Return what a person says of a run: notes, as facts of its environment, and its group."""
    facts = as_facts(checked_words("note", notes, RunNote))
    return facts, checked_words("group", group, GroupName)


def _facts(limits: Sequence[str], cpus: Cpus) -> dict[str, str]:
    facts = {FACT: fact_of(limits)} if limits else {}
    return facts | ({CPUS: shown_with_nodes(cpus)} if cpus else {})


def _note(recorder: Recorder, limits: Sequence[str]) -> None:
    if limits:
        recorder.note(FACT, fact_of(limits))


def _check_ahead(
    method: AnyMethod,
    settings: Settings,
    geometry: Geometry,
    max_drive_writes: float | None,
    limits: Sequence[str],
) -> None:
    """Refuse a run that writes too much, memory that cannot be limited here, or limits that name
    nothing which it will find.
    """
    MemoryLimit().check(memory_of(settings))
    if max_drive_writes is None and not limits:
        return
    from teijo.compare.limits import check_named
    from teijo.runner import preview as paper
    from teijo.runner.extent import refuse_beyond
    from teijo.runner.rehearsal import rehearsed

    if max_drive_writes is not None:
        if not geometry.has_capacity:
            raise PlanError(
                "A directory or a database has no capacity",
                remedy="Leave --max-drive-writes away.",
            )
        refuse_beyond(max_drive_writes, paper.preview(method, settings, geometry))
    if not limits:
        return
    rehearsal = rehearsed(method, settings, geometry)
    try:
        reading.analyse(rehearsal)
    except RunFileError:
        return  # a method that finds nothing on paper
    check_named(rehearsal, limits)


def _seed(seed: int | None) -> int:
    """Return the seed of a run, drawn where none is given.

    Raises:
        PlanError: it is too large to be recorded as it is.
    """
    if seed is None:
        return secrets.randbits(32)
    if not 0 <= seed < 2**53:
        raise PlanError(
            f"The seed {seed} is not in 0 … 2^53 − 1.", remedy="Give a seed of that range."
        )
    return seed


def _hooks_in(record: Record, under_way: Step | None) -> list[tuple[str, ...]]:
    """Return the hooks that recorded steps name, and the one that was begun."""
    asked = [under_way, *(each.step for each in record.steps)]
    return [each.hook for each in asked if isinstance(each, Configure)]


def _consented(
    record: Record,
    recorder: Recorder,
    settings: Settings,
    *,
    hook: str | None,
    server: str | None,
    seen: Observer,
) -> Hook | None:
    """Return the hook that a run file names, shown and consented to; None where it names none.

    Raises:
        UnsafeError: no consent to it, or to sending a password to the server that it names.
    """
    check_receiver(str(getattr(settings, "server", "")), server)
    named = (hook_of(settings), *_hooks_in(record, recorder.under_way()))
    return _shown(hook_to_resume(named, hook), seen)


def _shown(hook: Hook | None, observer: Observer) -> Hook | None:
    """Show a hook before anything is begun; return it."""
    if hook is not None:
        observer(HookNamed(hook=hook))
    return hook


def hook(method: str, *, spec: str = "", settings: Mapping[str, str] | None = None) -> Hook | None:
    """Return the hook that a run of these settings would start, None where there is none.

    Raises:
        PlanError: the settings are refused.
        HostError: it cannot be started, or one of its files cannot be read.
    """
    chosen = method_named(method)
    asked = chosen.settings(spec or chosen.default_spec, settings or {}, _PAPER)
    return hook_to_run(hook_of(asked), None)


def preview(
    method: str,
    target: str,
    *,
    spec: str = "",
    settings: Mapping[str, str] | None = None,
    rates: "Rates | None" = None,
    endurance_bytes: int | None = None,
) -> "Preview":
    """Return how long a run takes and how much it writes: least, expected, most; writes nothing.

    `rates` None assumes usual ones, or tries a simulated device for a moment. `endurance_bytes`
    is what the drive is rated for (TBW); None takes what its own counters imply, if they do.
    """
    return foretell(
        method, target, spec=spec, settings=settings, rates=rates, endurance_bytes=endurance_bytes
    ).extent


@dataclass(frozen=True, kw_only=True)
class Foretold:
    """What a run would be: how long and how much, the hook it starts, and what its purge takes.

    `purges` are of the method that the settings name; `auto` takes no more than the target, and
    has none. An error stands where it cannot be had here and now, with the reason.
    """

    extent: "Preview"
    hook: Hook | HostError | None
    purges: "tuple[Offer, ...] | TeijoError"


def foretell(
    method: str,
    target: str,
    *,
    spec: str = "",
    settings: Mapping[str, str] | None = None,
    rates: "Rates | None" = None,
    endurance_bytes: int | None = None,
) -> Foretold:
    """Return all that can be said of a run before it; see `preview`. Writes nothing."""
    from teijo.analysis.endurance import endurance_from, endurance_told
    from teijo.runner import preview as paper

    chosen = method_named(method)
    with closing(survey(target, settings)) as seen:
        numbers, _ = _evaluated(chosen, spec or chosen.default_spec, seen)
        if rates is None and seen.simulated is not None:
            rates = paper.rates_tried(seen.simulated)
        told = None if endurance_bytes is None else endurance_told(endurance_bytes)
        endurance = told or endurance_from(seen.asked_counters().counts)
        purges: tuple[Offer, ...] | TeijoError
        try:
            purges = seen.purge_offers(purge_by(numbers))
        except TeijoError as error:
            purges = error  # the drive can be in another state where the run begins
    extent = replace(paper.preview(chosen, numbers, seen.geometry, rates), endurance=endurance)
    hook: Hook | HostError | None
    try:
        hook = hook_to_run(hook_of(numbers), None)
    except HostError as error:
        hook = error  # it may be missing here and be there where the run will be
    return Foretold(extent=extent, hook=hook, purges=purges)


def _holder(run_id: str, names: Names) -> Holder:
    return Holder(run=run_id, run_file=str(names.open.absolute()))
