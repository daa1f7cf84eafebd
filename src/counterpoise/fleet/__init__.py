"""Many at once: work spread over processes, where one that fails, or even dies, never stops the others."""

from counterpoise.fleet.converting import Conversion, Converted, convert_files, plan_conversion

__all__ = ["Conversion", "Converted", "convert_files", "plan_conversion"]
