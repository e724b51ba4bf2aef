"""The list and each run as JSON."""

import asyncio
from collections.abc import Mapping
from typing import Final, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from teijo.analysis.course import LEVELS, POINTS_MOST
from teijo.analysis.percentile import percentile_name
from teijo.api import Column
from teijo.speech import tongue
from teijo.terms.provenance import GROUP_MEANINGS, Provenance
from teijo.terms.record import Ending
from teijo.web.measured_json import measured_json
from teijo.web.programs.describing import (
    Json,
    asked_json,
    columns,
    number,
    one_of,
    opened,
    or_null,
    parameter,
    rows,
    table,
    text,
    truth,
    whole,
)
from teijo.web.question import ROWS, question_of
from teijo.web.site import Site
from teijo.web.state_json import course_json, run_json, state_json


def routes(site: Site) -> list[Route]:
    """Return the addresses of the runs for programs."""
    desk = site.desk

    async def runs(request: Request) -> Response:
        question = question_of(request.query_params)
        found = await asyncio.to_thread(desk.find, question)
        rows = [run_json(row, desk.folder) for row in found.answer.rows]
        reading = found.reading is not None
        return JSONResponse({"total": found.answer.total, "reading": reading, "runs": rows})

    async def run(request: Request) -> Response:
        async with desk.watchers.looking(request.path_params["key"]) as watcher:
            sight = await watcher.after(0)
            state, course = state_json(sight.state), course_json(sight)
            return JSONResponse({"state": state, "course": course, **measured_json(sight)})

    return [site.route("/api/v1/runs", runs), site.route("/api/v1/runs/{key:str}", run)]


def describe() -> Mapping[str, Json]:
    """Return the addresses of the runs in the words of OpenAPI."""
    listed = table(
        {
            "total": whole("How many runs fit, on all pages."),
            "reading": truth("Whether files are being read whose runs are not in the list yet."),
            "runs": rows(table(_ROW, "A run file."), f"One page: {ROWS} runs at most."),
        }
    )
    one = table(
        {
            "state": table(_STATE, "The run now."),
            "course": table(_COURSE, "Over time."),
            "rounds": table(_ROUNDS, "What each cell measured in each round."),
            "window": rows(table(_VARIABLE), "How far each tracking variable is."),
            "drive": table(_DRIVE, "What the drive told of itself, and the host of it."),
        }
    )
    return {
        "/api/v1/runs": asked_json("The list of runs.", listed, _CHOOSING),
        "/api/v1/runs/{key}": asked_json("The state and the course of a run.", one, (_KEY, _LANG)),
    }


_ENDINGS: Final = get_args(Ending)
_LANG: Final = parameter(
    "lang", one_of(tongue.TONGUES, "The language of words; without it, that of Accept-Language.")
)
_KEY: Final = parameter(
    "key", text("The id of a run in the list.", pattern="^[0-9a-f]{24}$"), place="path"
)
_DAY: Final = r"^\d{4}-\d\d-\d\d$"
_CHOOSING: Final = (
    parameter("q", text("Part of a file's name, device, serial, target, method or verdict.")),
    *(
        parameter(
            column.value,
            rows({"type": "string"}, f"Runs whose {column.value} is one of these."),
            explode=True,
        )
        for column in Column
        if column not in (Column.NAME, Column.TROUBLE)
    ),
    parameter("since", text("The first day that a run began, as 2026-11-28.", pattern=_DAY)),
    parameter("until", text("The last day that a run began.", pattern=_DAY)),
    parameter("trouble", one_of(("yes", "no"), "Files that cannot be read, or those that can.")),
    parameter(
        "sort",
        one_of(
            [f"{sign}{column.value}" for column in Column for sign in ("", "-")],
            f"The order; with -, from the last to the first. Without it: -{Column.STARTED_AT}.",
        ),
    ),
    parameter("page", whole(f"Which page, of {ROWS} runs each; the first is 1.") | {"minimum": 1}),
)
_ROW: Final = {
    "id": text("What a run is called in addresses; it stays when the run is sealed."),
    "file": text("The place of the file in the folder."),
    "open": truth("Whether the file is named as one that is not sealed."),
    "device": text("The model of the drive, or the target."),
    "serial": text("The serial number of the drive."),
    "target": text("What was named on the command line."),
    "method": text("The id of the method."),
    "spec": text("The version of the standard, or nothing."),
    "started_at": text("When the run began, in ISO 8601."),
    "ending": one_of(
        ("left open", *_ENDINGS, ""), '"left open": nobody writes to it; nothing if unreadable.'
    ),
    "verdict": text("The verdict of the report, or nothing."),
    "limits": one_of(("met", "not met", "not known", ""), "Whether --limit was met; or nothing."),
    "provenance": one_of((*get_args(Provenance), ""), "Where the numbers are from."),
    "group": {
        "type": "object",
        "description": "What the run belongs to.",
        "properties": {name.value: text(each) for name, each in GROUP_MEANINGS.items()},
        "additionalProperties": False,
    },
    "trouble": text("Why the file cannot be read; nothing if it can."),
    "share": or_null(
        number("How much of a run that has not ended is done, from 0 to 1.", minimum=0, maximum=1)
    ),
    "round_number": or_null(whole("The round it is in.")),
    "written_at": text("When its file was last written, in ISO 8601; nothing if it has ended."),
}
_IOPS: Final = number("I/Os per second.")
_MB_S: Final = number("Megabytes (10^6 bytes) per second.")
_STATE: Final = {
    "title": text("What runs on what."),
    "ending": one_of(_ENDINGS, "How the run ended, or that it goes on."),
    "ending_words": text("The same in words."),
    "error": text("Why it failed, or nothing."),
    "stopping": truth("Whether it has been asked to stop."),
    "phase": text("What is being done, in words; nothing when the run has ended."),
    "round": or_null(whole("The round under way, counted from 1; null outside rounds.")),
    "cell": text("The cell of the matrix that is measured, or nothing."),
    "performs": truth("Whether operations on files or statements are timed; iops are these then."),
    "share": number("How much of the run is done, from 0 to 1.", minimum=0, maximum=1),
    "step_share": or_null(number("The same of the step under way.", minimum=0, maximum=1)),
    "iops": or_null(_IOPS),
    "mb_s": or_null(_MB_S),
    "celsius": or_null(number("The temperature of the drive in °C; null where it is not known.")),
    "steady": text("How far steady state is, in words; nothing where it is not looked for."),
    "forecast": text("The rounds that are left, in words, or nothing."),
    "elapsed": text("How long the run has gone on, in words."),
    "elapsed_s": number("The same in s."),
    "left": text("How much longer it will go on, in words, or nothing."),
    "left_s": or_null(
        columns([number(each) for each in ("Least.", "Expected.", "Most.")], "The same in s.")
    ),
    "remarks": rows(
        table(
            {
                "kind": text("Its kind, in words."),
                "text": text("What it says."),
                "count": whole("How many remarks say so."),
            },
            "Why a number must be read with care.",
        ),
        "Remarks, those that say the same together.",
    ),
    "cells": rows(
        table(
            {
                "cell": text("The name of the cell."),
                "round": or_null(whole("The round it was measured in.")),
                "iops": _IOPS,
                "mb_s": _MB_S,
            },
            "The last measurement of a cell.",
        ),
        "The cells that have been measured.",
    ),
}
_COURSE: Final = {
    "epoch": whole("Another number means that all earlier points are to be forgotten."),
    "joined": whole("How many intervals make one point."),
    "first": whole("The place of the first of these points in the course."),
    "points": rows(
        columns(
            [
                number("Start in s of the run's clock."),
                number("Length in s."),
                _IOPS,
                number("IOPS of the slowest interval."),
                number("IOPS of the fastest interval."),
                _MB_S,
                number("Operations that failed."),
                or_null(number("Mean latency in ms; null without an I/O.")),
                or_null(number("Longest latency in ms; null without an I/O.")),
            ],
            "A point.",
        ),
        f"The course, in {POINTS_MOST:,} points at most.",
    ),
    "levels_first": whole("The place of the first of these levels."),
    "levels": rows(
        columns(
            [
                number("Start in s of the run's clock."),
                number("End in s."),
                *(
                    or_null(
                        number(f"{percentile_name(each)} of latency in ms; null if unresolved.")
                    )
                    for each in LEVELS
                ),
            ],
            "A step that has ended.",
        ),
        "Percentiles of all I/Os of each step.",
    ),
}
_COUNTER: Final = opened("A counter: its name, at first, now, and the difference, in words.")
_ROUNDS: Final = {
    "begun": columns(
        [whole("The epoch of the course."), whole("Another number: forget earlier answers.")],
        "Two numbers; where one is another, all earlier answers are to be forgotten.",
    ),
    "first": whole("The place of the first of these answers."),
    "answers": rows(
        columns(
            [
                whole("The round."),
                text("The name of the cell."),
                _IOPS,
                _MB_S,
                or_null(number("Mean latency in ms; null without an I/O.")),
            ],
            "A cell in a round.",
        ),
        "In the order they were measured.",
    ),
}
_VARIABLE: Final = {
    "name": text("The tracking variable."),
    "unit": text("Its unit."),
    "rounds": whole("How many rounds there are."),
    "window": or_null(
        opened(
            "The last five rounds: rounds, values, average, share and line (% of the average), "
            "range and slope beside their limits, whether each is within; null before there are "
            "five."
        )
    ),
}
_DRIVE: Final = {
    "joined": whole("How many readings make one point."),
    "epoch": whole("Another number means that all earlier points are to be forgotten."),
    "first": whole("The place of the first of these points."),
    "points": rows(
        columns(
            [
                number("When, in s of the run's clock."),
                number("The temperature in °C."),
                truth("Whether a line begins here: before, nobody asked."),
            ],
            "A point.",
        ),
        "The temperature of the drive over time.",
    ),
    "limits": rows(
        table({"name": text("Its name."), "celsius": number("In °C.")}, "A limit of the drive."),
        "Its own limits.",
    ),
    "drive": rows(_COUNTER, "What the drive counted."),
    "host": rows(_COUNTER, "What this host counted."),
    "amplification": text("The write amplification so far with its bounds, or nothing."),
}
