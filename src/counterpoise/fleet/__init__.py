"""Many tasks at once: work spread over processes, where a task that fails or crashes never stops the others."""

from counterpoise.fleet.converting import Conversion, Converted, convert_files, plan_conversion
from counterpoise.fleet.sweeping import SweepPlan, plan_sweep, sweep
from counterpoise.fleet.tables import SweepTable

__all__ = [
    "Conversion", "Converted", "SweepPlan", "SweepTable", "convert_files", "plan_conversion", "plan_sweep", "sweep",
]  # fmt: skip
