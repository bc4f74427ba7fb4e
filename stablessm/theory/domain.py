"""Where a map is stable, in open intervals on which everything said about its gradient is smooth.

On a cell the decay is smooth, the margin to instability is positive and lambda keeps one sign. With f = lambda the
margin is |f| = s in continuous time and 1 - |f| in discrete time: s or 2 - s under the link 1 - s (where 1 - f <= 1 or
not), 1 - e^{-s} under the link e^{-s}.
"""

from dataclasses import dataclass, replace

import sympy

from stablessm.calculus.outcomes import Undecided
from stablessm.theory.conditions import Requirement, assumed, open_ones
from stablessm.theory.pieces import Piece, pieces_of, signed_cells
from stablessm.theory.problem import Problem, W
from stablessm.theory.stability import range_of


@dataclass(frozen=True)
class Cell:
    """An open interval of stable weights.

    Attributes:
        lower: lower end.
        upper: upper end.
        decay: s(w), smooth there.
        branch: which margin holds: "s", "2-s" or "exp".
    """

    lower: sympy.Expr
    upper: sympy.Expr
    decay: sympy.Expr
    branch: str

    def margin(self, decay: sympy.Expr | None = None) -> sympy.Expr:
        """The margin as an expression of w, or of the given decay."""
        s = self.decay if decay is None else decay
        return {"s": s, "2-s": 2 - s, "exp": 1 - sympy.exp(-s)}[self.branch]

    def slope(self) -> sympy.Expr:
        """df/dw up to its sign: s'(w), or s'(w) e^{-s} under the exponential link."""
        inner = sympy.diff(self.decay, W)
        return inner * sympy.exp(-self.decay) if self.branch == "exp" else inner

    def margin_slope(self) -> sympy.Expr:
        """The derivative of the margin, with its sign."""
        return -self.slope() if self.branch == "2-s" else self.slope()


def cells_of(problem: Problem) -> tuple[Cell, ...]:
    """The stable set of a map, cell by cell; empty where no weight is stable.

    Raises:
        Undecided: an end of a cell could not be located for all values of the constants.
    """
    cells: list[Cell] = []
    for piece in pieces_of(problem.decay, W, restrictions=problem.restrictions):
        if piece.expression is None:
            continue
        for cell, sign in signed_cells(piece, W):
            if sign <= 0:
                continue
            if problem.link == "one-minus":
                cells += _discrete(cell)
            else:
                branch = "s" if problem.link == "continuous" else "exp"
                cells.append(Cell(cell.lower, cell.upper, cell.expression, branch))
    return tuple(cells)


def _discrete(piece: Piece) -> list[Cell]:
    cells = []
    for part, sign in signed_cells(Piece(piece.lower, piece.upper, 1 - piece.expression), W):
        if sign >= 0:
            cells.append(Cell(part.lower, part.upper, piece.expression, "s"))
            continue
        for inner, below in signed_cells(Piece(part.lower, part.upper, 2 - piece.expression), W):
            if below > 0:
                cells.append(Cell(inner.lower, inner.upper, piece.expression, "2-s"))
    return cells


def covering(problem: Problem) -> tuple[Cell, ...]:
    """Cells that need no case distinction in the constants: under 1 - s one cell for each branch of the margin.

    min(s, 2 - s) is the smaller of two smooth margins, so a quantity 1/margin^k is the larger of two smooth ones:
    bounded if and only if both are, wherever the branches meet.

    Raises:
        Undecided: as `cells_of`.
    """
    if problem.link != "one-minus":
        return cells_of(problem)
    cells = []
    for piece in pieces_of(problem.decay, W, restrictions=problem.restrictions):
        if piece.expression is None:
            continue
        for cell, sign in signed_cells(piece, W):
            if sign > 0:
                for part, below in signed_cells(Piece(cell.lower, cell.upper, 2 - cell.expression), W):
                    if below > 0:
                        cells += [Cell(part.lower, part.upper, cell.expression, branch) for branch in ("s", "2-s")]
    return tuple(cells)


def stable_cells(case: Problem) -> tuple[Cell, ...]:
    """The stable set: exact cells where the branches of the margin can be told apart, else both branches everywhere."""
    try:
        return cells_of(case)
    except Undecided:
        return covering(case)


def decaying(problem: Problem) -> tuple[Cell, ...]:
    """Cells on which s > 0, with the margin of lambda > 0 (1 - f in discrete time, whatever the sign of f).

    Raises:
        Undecided: as `cells_of`.
    """
    cells = []
    for piece in pieces_of(problem.decay, W, restrictions=problem.restrictions):
        if piece.expression is not None:
            branch = "exp" if problem.link == "exponential" else "s"
            for cell, sign in signed_cells(piece, W):
                if sign > 0:
                    cells.append(Cell(cell.lower, cell.upper, cell.expression, branch))
    return tuple(cells)


def under_stability(problem: Problem) -> tuple[Problem, list[Requirement]]:
    """The problem without values, its condition for stability built into the constants, and that condition.

    Raises:
        Undecided: there is no such condition, or it cannot be built in.
    """
    needed = open_ones(list(range_of(problem).requirements))
    if not needed:
        raise Undecided("no condition on the constants makes the map stable")
    return _built_in(problem, needed), needed


def under_positive_eigenvalues(problem: Problem) -> tuple[Problem, list[Requirement]]:
    """The problem under the link 1 - s, with the condition for stability and for lambda >= 0 built into the constants.

    Raises:
        Undecided: there is no such condition, or it cannot be built in.
    """
    found = range_of(problem)
    needed = open_ones([*found.requirements, *(Requirement(1 - e.value, strict=False) for e in found.extremes)])
    if not needed:
        raise Undecided("no condition on the constants makes lambda >= 0")
    return _built_in(problem, needed), needed


def _built_in(problem, needed):
    forward, back = assumed(needed)
    names = problem.names + tuple((new, str(new)) for new in back)
    return replace(problem.substituted(forward), values=(), names=names, back=tuple(back.items()))
