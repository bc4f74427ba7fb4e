"""Whether this installation works: what it stands on, and the laws of the project held to on this machine."""

from stablessm.doctor.laws import LAWS, Held, Law
from stablessm.doctor.machine import Part, devices, extras, packages

__all__ = ["LAWS", "Held", "Law", "Part", "devices", "extras", "packages"]
