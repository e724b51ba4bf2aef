"""A name that there is not: the nearest one is offered, and all are listed."""

from teijo.outside.names import unknown


def test_the_nearest_name_is_offered_and_all_that_are_valid_are_listed() -> None:
    error = unknown("method", "iosp", ["iops", "lat"], ["pts.iops"])
    assert error.message == "Unknown method 'iosp'; did you mean 'iops'?"
    assert error.remedy == "Valid are: iops, lat."


def test_a_name_like_none_gets_no_guess() -> None:
    assert unknown("method", "zzz", []).message == "Unknown method 'zzz'."
    assert unknown("method", "zzz", []).remedy == "Valid are: none."
