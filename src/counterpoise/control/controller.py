"""WholeBody: the controller that follows objectives in strict levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.whole_body import WholeBodyMemory, build_whole_body, solve_whole_body
from counterpoise.control.whole_body_problem import Levels, WholeBodyTuning, checked_levels
from counterpoise.errors import BadValue
from counterpoise.objectives import Footing

Chooser = Callable[[Snapshot, float, Any], Any]  # snapshot, time, own memory -> levels, or (levels, own memory)


@dataclass(frozen=True, eq=False)
class WholeBody:
    """Turns objectives in strict levels, first to last, into joint torques, `rate` times a second.

    `levels` is a list of levels, each a list of objectives; or a function of (snapshot, time, own memory) that returns
    one, alone or with its new memory. So objectives may be added, removed, and change weight or level between ticks;
    with `tuning.fade` the torques do not jump. `footing` is what the feet stand on; None: level ground. The recording's
    notes hold the residual of every objective, the solver's status and what was at its limit.
    """

    levels: Levels | Chooser
    footing: Footing | Callable[[Snapshot, float, Any], Footing] | None = None
    rate: float = 500.0  # [Hz]
    tuning: WholeBodyTuning = field(default_factory=WholeBodyTuning)

    def __post_init__(self) -> None:
        if not self.rate > 0.0:
            raise BadValue(f"a controller's rate is positive [Hz]; got {self.rate!r}")
        if not callable(self.levels):
            if not isinstance(self.levels, Sequence):
                raise BadValue(f"levels are a list of lists of objectives, or a function; got {self.levels!r}")
            checked_levels(self.levels)

    def begin(self, character: Character) -> tuple[WholeBodyMemory, Any]:
        if not callable(self.levels):  # raises now where an objective does not fit this body
            here = character.snapshot()
            _ = build_whole_body(here, self.levels, self._footing(here, None), self.tuning).rows
        return WholeBodyMemory(), None

    def act(self, snapshot: Snapshot, memory: tuple[WholeBodyMemory, Any]) -> Action:
        solver, own = memory
        levels, own = self._levels(snapshot, own)
        solution = solve_whole_body(snapshot, levels, self._footing(snapshot, own), self.tuning, solver)
        return Action(solution.torque, (solution.memory, own), solution.notes())

    def _levels(self, snapshot: Snapshot, own: Any) -> tuple[Levels, Any]:
        if not callable(self.levels):
            return self.levels, own
        chosen = self.levels(snapshot, snapshot.time, own)
        if isinstance(chosen, tuple) and len(chosen) == 2 and isinstance(chosen[0], Sequence):
            return chosen
        return chosen, own

    def _footing(self, snapshot: Snapshot, own: Any) -> Footing | None:
        if callable(self.footing):
            return self.footing(snapshot, snapshot.time, own)
        if self.footing is None and snapshot.character.feet:
            return _LEVEL_GROUND
        return self.footing


_LEVEL_GROUND = Footing()
