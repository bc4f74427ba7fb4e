"""One self-contained page from the stored datasets: questions, verdicts, curves, figures, tables, provenance."""

from stablessm.report.assembly import page as page
from stablessm.report.gathering import gather as gather
from stablessm.report.sections import section as section
