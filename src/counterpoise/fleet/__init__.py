"""Many tasks at once: work spread over processes, where a task that fails or crashes never stops the others."""

from counterpoise.fleet.converting import Conversion, Converted, convert_files, plan_conversion

__all__ = ["Conversion", "Converted", "convert_files", "plan_conversion"]
