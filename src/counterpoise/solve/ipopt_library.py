"""IPOPT's library: found, loaded, its C functions declared.

The library is the one in casadi's wheel, which exists for Windows, macOS and Linux; casadi itself is not imported. Set
the environment variable COUNTERPOISE_IPOPT to use another: the path of a libipopt, or `system` for the one the linker
finds. It must be IPOPT 3.14 or later with double precision and 32-bit indices. COUNTERPOISE_LINEAR_SOLVER names the
linear solver to use where that build has a better one than MUMPS, such as `ma57`.

The linear algebra of casadi's library is held to one thread: our matrices are too small to gain by more, and sums would
depend on the number of processors.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

from counterpoise.errors import BadFile

LIBRARY_VARIABLE = "COUNTERPOISE_IPOPT"
SOLVER_VARIABLE = "COUNTERPOISE_LINEAR_SOLVER"
USUAL_SOLVER = "mumps"  # every build has it
NAMES_IN_CASADI = {"win32": "libipopt-3.dll", "darwin": "libipopt.3.dylib"}
NAME_IN_CASADI_ELSEWHERE = "libipopt.so.3"
BLAS_IN_CASADI = {"win32": "libcasadi-tp-openblas.dll", "linux": "libcasadi-tp-openblas.so.0"}  # macOS has its own

DOUBLE, INT, BOOL, POINTER = ctypes.c_double, ctypes.c_int, ctypes.c_bool, ctypes.c_void_p
# What IPOPT calls: n, x, whether x is new, ...; the last argument is the user's data, which is not used.
VALUE = ctypes.CFUNCTYPE(BOOL, INT, POINTER, BOOL, POINTER, POINTER)
ROWS = ctypes.CFUNCTYPE(BOOL, INT, POINTER, BOOL, INT, POINTER, POINTER)
JACOBIAN = ctypes.CFUNCTYPE(BOOL, INT, POINTER, BOOL, INT, INT, POINTER, POINTER, POINTER, POINTER)
HESSIAN = ctypes.CFUNCTYPE(
    BOOL, INT, POINTER, BOOL, DOUBLE, INT, POINTER, BOOL, INT, POINTER, POINTER, POINTER, POINTER
)
ITERATION = ctypes.CFUNCTYPE(BOOL, INT, INT, *([DOUBLE] * 8), INT, POINTER)


def library_path() -> str:
    """Returns the library that is asked for by the environment, or casadi's."""
    asked = os.environ.get(LIBRARY_VARIABLE, "")
    if asked == "system":
        found = ctypes.util.find_library("ipopt")
        if found is None:
            raise BadFile(
                f"{LIBRARY_VARIABLE} is 'system', but the linker finds no libipopt; install IPOPT 3.14 or later, "
                "or unset the variable to use the one that comes with casadi"
            )
        return found
    if asked:
        return asked
    spec = importlib.util.find_spec("casadi")
    if spec is None or spec.origin is None:
        raise BadFile(
            f"no package 'casadi', which brings IPOPT; install it, or set {LIBRARY_VARIABLE} to the path of a libipopt"
        )
    return str(Path(spec.origin).parent / NAMES_IN_CASADI.get(sys.platform, NAME_IN_CASADI_ELSEWHERE))


def linear_solver() -> str:
    """Returns the linear solver that is asked for by the environment, or MUMPS."""
    return os.environ.get(SOLVER_VARIABLE) or USUAL_SOLVER


def loaded_library() -> ctypes.CDLL:
    """Returns IPOPT's library; it is loaded on first use."""
    return load_library(library_path())


@cache
def load_library(path: str) -> ctypes.CDLL:
    """Loads an IPOPT library and declares the functions used here."""
    if sys.platform == "win32" and Path(path).is_absolute():
        os.add_dll_directory(str(Path(path).parent))
    try:
        library = ctypes.CDLL(path)
        library.CreateIpoptProblem.restype = POINTER
        library.CreateIpoptProblem.argtypes = [
            INT, POINTER, POINTER, INT, POINTER, POINTER, INT, INT, INT, VALUE, ROWS, VALUE, JACOBIAN, HESSIAN,
        ]  # fmt: skip
        library.FreeIpoptProblem.restype, library.FreeIpoptProblem.argtypes = None, [POINTER]
        for name, kind in (("Str", ctypes.c_char_p), ("Int", INT), ("Num", DOUBLE)):
            add = getattr(library, f"AddIpopt{name}Option")
            add.restype, add.argtypes = BOOL, [POINTER, ctypes.c_char_p, kind]
        library.SetIntermediateCallback.restype = BOOL
        library.SetIntermediateCallback.argtypes = [POINTER, ITERATION]
        library.IpoptSolve.restype, library.IpoptSolve.argtypes = INT, [POINTER] * 8
    except (OSError, AttributeError) as error:
        raise BadFile(
            f"cannot use {path!r} as IPOPT's library ({error}); set {LIBRARY_VARIABLE} to the path of a libipopt of "
            "version 3.14 or later, or unset it to use the one that comes with casadi"
        ) from error
    _use_one_thread(Path(path).parent)
    return library


def _use_one_thread(folder: Path) -> None:
    """Holds the linear algebra beside a library to one thread, if it is casadi's."""
    blas = folder / BLAS_IN_CASADI.get(sys.platform, "")
    if not blas.is_file():
        return
    library = ctypes.CDLL(str(blas))
    if hasattr(library, "openblas_set_num_threads"):
        library.openblas_set_num_threads(1)
