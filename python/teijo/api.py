"""The one door: run, resume, preview, open, analyse, present, export. It only composes."""

import secrets
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from teijo.device import geometry_of, open_target
from teijo.device.sessions import Engine
from teijo.document.model import Document
from teijo.engine import ceilings
from teijo.errors import PlanError
from teijo.methods.pts.determination import determination_document, determination_of
from teijo.methods.registry import method_named
from teijo.methods.rescore import rescored
from teijo.runfile import columns, reader
from teijo.runfile import export as writing
from teijo.runfile.columns import Columns, Table
from teijo.runfile.export import Format
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.runner import preview as paper
from teijo.runner import run as acts
from teijo.runner.events import Observer, laying_out, unobserved
from teijo.terms.finding import Findings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import Remark

_PAPER = Geometry(capacity_bytes=2**50, nominal_capacity_bytes=2**50)
"""Large enough for every setting: what a method writes does not depend on the device's size."""


@dataclass(frozen=True)
class Run:
    """A run as its file holds it: `record` is all that was recorded, the rest follows from it."""

    path: Path
    record: Record

    @cached_property
    def findings(self) -> Findings:
        """What the run's method finds in it."""
        return analyse(self.record)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Every warning that goes with the numbers."""
        return self.record.remarks

    @cached_property
    def columns(self) -> dict[Table, Columns]:
        """The tables "steps", "results" and "intervals", as NumPy arrays by name."""
        return columns.tables(self.record)

    def document(self) -> Document:
        """Return what the report says."""
        return present(self.record, self.findings)

    def _repr_html_(self) -> str:
        """Show the report where a notebook asks for it."""
        from teijo.report import html

        return html.framed(self.document())


def run(
    method: str,
    target: str,
    *,
    output: Path | str,
    spec: str = "",
    settings: Mapping[str, str] | None = None,
    seed: int | None = None,
    destroy: str | None = None,
    overwrite: bool = False,
    engine: Engine = "native",
    observer: Observer = unobserved,
) -> Run:
    """Measure a target by a method, and return the run from its sealed file.

    `output` is NAME or NAME.teijo, `settings` as `--set` has them, `spec` "" the newest version,
    `destroy` the serial of a block device to overwrite ("S1,S2" of several); `seed` None is drawn.

    Raises:
        TeijoError: by class, see errors.py; what was measured is in the run file.
    """
    chosen = method_named(method)
    spec, settings = spec or chosen.default_spec, settings or {}
    seed = secrets.randbits(32) if seed is None else seed
    if not 0 <= seed < 2**53:
        raise PlanError(f"The seed {seed} is not in 0 … 2^53 − 1.")
    writes = chosen.writes(chosen.settings(spec, settings, _PAPER))
    Names.of(output).check_free()  # before a target is laid out, which takes long
    with closing(
        open_target(
            target,
            write=writes,
            destroy=destroy,
            overwrite=overwrite,
            engine=engine,
            results=(Path(output).absolute().parent,),
            progress=laying_out(observer),
        )
    ) as device:
        order = acts.Order(
            method=chosen,
            spec=spec,
            settings=chosen.settings(spec, settings, device.geometry),
            seed=seed,
            device=device,
            output=Path(output),
            engine=engine,
        )
        return open(acts.begin(order, observer))


def resume(
    path: Path | str,
    *,
    destroy: str | None = None,
    overwrite: bool = False,
    observer: Observer = unobserved,
) -> Run:
    """Carry on a run that was interrupted or killed; consent to write is asked again.

    Raises:
        RunFileError: the file is sealed, in use, or of a version that asks for other steps.
        IdentityError: it is not the device the run began on. Others: as `run`.
    """
    with closing(Recorder.reopen(path)) as recorder:
        record = reader.read(recorder.names.open)
        if record.run.ending not in ("running", "interrupted"):
            return open(recorder.seal())  # it had ended; only its sealing was cut short
        method = method_named(record.run.method)
        writes = method.writes(method.settings_from(record.run.settings))
        with closing(
            open_target(
                record.identity.target,
                write=writes,
                destroy=destroy,
                overwrite=overwrite,
                results=(recorder.names.sealed.absolute().parent,),
                engine="fio" if record.run.engine.startswith("fio") else "native",
            )
        ) as device:
            return open(acts.resume(record, recorder, method, device, observer))


def preview(
    method: str, target: str, *, spec: str = "", settings: Mapping[str, str] | None = None
) -> paper.Preview:
    """Return how long a run takes and how much it writes, at least and at most; writes nothing."""
    chosen = method_named(method)
    geometry = geometry_of(target)
    numbers = chosen.settings(spec or chosen.default_spec, settings or {}, geometry)
    return paper.preview(chosen, numbers, geometry)


method = method_named
"""The method of a name: "pts.iops" or "iops"."""

steady, steady_document = determination_of, determination_document
"""The steady state determination for named series of numbers, and the report of it."""

calibrate = ceilings
"""What this host does with no device at all, from the ns to spend on each figure."""


def open(path: Path | str) -> Run:  # noqa: A001
    """Return a run from its file, sealed or not; a RunFileError says what is wrong with it."""
    place = reader.locate(path)
    return Run(place, reader.read(place))


def rescore(run: Run, spec: str) -> Run:
    """Return a run judged by another version of its standard; see methods/rescore.py."""
    return Run(run.path, rescored(run.record, method_named(run.record.run.method), spec))


def analyse(record: Record) -> Findings:
    """Return what the method of a record finds in it."""
    return method_named(record.run.method).findings(record)


def present(record: Record, findings: Findings | None = None) -> Document:
    """Return the report of a record, by its method."""
    findings = analyse(record) if findings is None else findings
    return method_named(record.run.method).document(record, findings)


def export(path: Path | str, *, to: Format, table: Table = "results") -> bytes:
    """Return a run as JSON with everything in it, or one table of it as CSV or Parquet."""
    found = open(path)
    return writing.export(found.record, found.findings, to=to, table=table)
