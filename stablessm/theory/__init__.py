"""What can be proved about a parameterization, from its one formula. See README.md for how."""

from stablessm.theory.certificate import Certificate as Certificate
from stablessm.theory.certificate import document as document
from stablessm.theory.statement import CounterExample as CounterExample
from stablessm.theory.statement import Statement as Statement
from stablessm.theory.verification import verify as verify
