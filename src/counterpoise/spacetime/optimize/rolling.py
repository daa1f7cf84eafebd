"""Feet that roll over their toes before they leave the ground: a flat contact, then one on the toes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from counterpoise.spacetime.optimize.moments import TIME_TOLERANCE, Moment, Time, seconds
from counterpoise.spacetime.optimize.request import Touch


def with_rolling_feet(contacts: Sequence[Touch], duration: Time) -> tuple[Touch, ...]:
    """Returns the contacts with those that roll cut in two, the second on the toes.

    The cut is free where the foot's leaving is. A foot that stands to the end of the motion does not leave.
    """
    out: list[Touch] = []
    cuts: dict[tuple[int, float] | tuple[float, float], Time] = {}
    for touch in contacts:
        if touch.roll == 0.0 or seconds(touch.end) >= seconds(duration) - TIME_TOLERANCE:
            out.append(touch)
            continue
        end = touch.end
        key = (id(end) if isinstance(end, Moment) else float(end), touch.roll)
        if key not in cuts:
            at = seconds(end) - touch.roll
            cuts[key] = Moment(at, name=f"roll {seconds(end):g}") if isinstance(end, Moment) else at
        cut = cuts[key]
        out.append(replace(touch, end=cut, roll=0.0, name=touch.label))
        out.append(
            replace(touch, start=cut, how="toe", roll=0.0, sole=1.0, name=f"{touch.label} on its toes", facing=None,
                    place=None)
        )  # fmt: skip
    return tuple(out)
