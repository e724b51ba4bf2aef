"""Remarks that say the same with other figures stand once; what is otherwise stands apart."""

from teijo.analysis.validity import device_remarks
from teijo.document.phrase import Verbatim, say
from teijo.methods import pages
from teijo.methods.remark_groups import grouped
from teijo.report.language import Language, translator
from teijo.runfile.phrases import recalled, stored_of
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload


def split(*, own: int, seen: int, step: int) -> Remark:
    """Return the remark of a step whose I/Os became others, as a run file gives it back."""
    done = OperationResult(stream="s", operation="read", count=own, bytes=own * 4096)
    counted = {"kernel_read_bytes": own * 4096, "kernel_write_bytes": 0,
               "kernel_reads": seen, "kernel_writes": 0}  # fmt: skip
    answer = StepResult(
        started_ns=0, elapsed_ns=10**9, results=(done,),
        health_before=dict.fromkeys(counted, 0), health_after=counted,
    )  # fmt: skip
    stimulus = Measure(
        workload=Workload(streams=(Stream(name="s", read_percent=100, block_size_bytes=4096),)),
        duration_ns=10**9,
    )
    (remark,) = device_remarks(stimulus, answer)
    text = recalled(str(remark.text), stored_of(remark.text))
    return Remark(kind=remark.kind, text=text, step=step)


def test_one_remark_of_many_steps_says_from_where_to_where_its_figures_go() -> None:
    steps = [split(own=1000 + 10 * n, seen=4000, step=n) for n in (3, 1, 2)]
    (note,) = pages.remarks_section(steps).blocks
    assert note.text == (
        "I/Os were split: 1,010–1,030 of this run became 4,000 of the device's, 3.88–3.96 "
        "for each. (steps 3, 1, 2)"
    )
    japanese = translator(Language.JAPANESE).text(note.text)
    assert all(each in japanese for each in ("1,010–1,030", "3.88–3.96"))
    assert "of this run" not in japanese


def test_figures_are_ordered_as_numbers_and_not_as_text() -> None:
    texts = [say("{seen} seen", seen=each) for each in ("9.5", "1,000", "10")]
    remarks = [(Remark(kind=RemarkKind.IO_SPLIT, text=text), None) for text in texts]
    (group,) = grouped(remarks)
    assert group.text == "9.5–1,000 seen"


def test_what_was_cut_and_what_was_joined_stand_apart() -> None:
    steps = [split(own=1000, seen=4000, step=1), split(own=1000, seen=400, step=2)]
    assert len(pages.remarks_section(steps).blocks) == 2


def test_another_name_another_set_value_and_another_kind_stand_apart() -> None:
    def said(name: str, asked: str, kind: RemarkKind) -> Remark:
        text = say("Stream {name}: {mean} of {asked}.", name=name, mean="1.50", asked=asked)
        return Remark(kind=kind, text=text, step=1)

    one = said("1", "4", RemarkKind.DEPTH_LIMITED)
    others = [
        said("2", "4", RemarkKind.DEPTH_LIMITED),
        said("1", "8", RemarkKind.DEPTH_LIMITED),
        said("1", "4", RemarkKind.HOST_LIMITED),
    ]
    assert len(grouped((each, 1) for each in (one, *others, one))) == 4


def test_a_text_without_parts_and_a_figure_that_is_no_number_stay_as_they_are() -> None:
    plain = [Remark(kind=RemarkKind.IO_SPLIT, text=text, step=1) for text in ("a 1", "a 2")]
    odd = [
        Remark(kind=RemarkKind.IO_SPLIT, text=say("{seen}", seen=each), step=1)
        for each in ("nan", "-", Verbatim("x"))
    ]
    assert [each.text for each in grouped((one, 1) for one in (*plain, *odd))] == [
        "a 1", "a 2", "nan", "-", "x",
    ]  # fmt: skip
