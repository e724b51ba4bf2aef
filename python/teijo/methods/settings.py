"""The numbers of one run: what the settings of every method have in common."""

from pydantic import BaseModel


class Settings(BaseModel, frozen=True, extra="forbid"):
    """The numbers of one run. Every method has its own; all of them are JSON and back.

    `spec` is the version of the standard by its full id, empty for a method without one.
    """

    spec: str = ""
