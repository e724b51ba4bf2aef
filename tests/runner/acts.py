"""Short ways to run the paper method on the paper device, and to go on with it."""

from pathlib import Path

from teijo.cli.signals import heard
from teijo.device.device import Device
from teijo.methods.method import AnyMethod
from teijo.runfile import reader
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.runner.events import Observer, unobserved
from teijo.runner.interrupt import Interrupt
from teijo.runner.run import Order, begin, resume
from teijo.terms.record import Record
from tests.runner.fakes import FakeDevice, PaperMethod, PaperSettings


def run_paper(
    path: Path,
    device: Device | None = None,
    *,
    method: AnyMethod | None = None,
    observer: Observer = unobserved,
    interrupt: Interrupt | None = None,
) -> Record:
    """Run to the sealed file, and read it."""
    order = Order(
        method=method or PaperMethod(),
        spec="",
        settings=PaperSettings(),
        seed=11,
        device=device or FakeDevice(),
        output=path,
        engine="native",
    )
    return reader.read(begin(order, observer, interrupt or Interrupt(heard)))


def resume_paper(
    path: Path,
    device: Device | None = None,
    *,
    method: AnyMethod | None = None,
    observer: Observer = unobserved,
) -> Record:
    """Go on with what a run left, and read the sealed file."""
    recorder = Recorder.reopen(path)
    record = reader.read(Names.of(path).open)
    method = method or PaperMethod()
    settings = method.settings_from(record.run.settings)
    sealed = resume(
        record, recorder, method, settings, device or FakeDevice(), observer, Interrupt(heard)
    )
    return reader.read(sealed)
