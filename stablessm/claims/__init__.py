"""Published claims, each decided from stored datasets: confirmed, confirmed under a condition, not confirmed."""

from stablessm.claims.catalogue import CLAIMS as CLAIMS
from stablessm.claims.record import Claim as Claim
from stablessm.claims.record import Finding as Finding
from stablessm.claims.record import decide as decide
