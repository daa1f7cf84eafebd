"""How the code of kernels is put together: each is optimised once, and becomes machine code where it is called.

numba links the code of every kernel that is called into the one that calls it, optimises all of it once more and makes
machine code of all of it, at every floor of a tower of kernels. Here

- a large function, which is never inlined, is only declared while its caller is optimised, and its optimised code is
  linked in afterwards;
- a kernel that only kernels call (`inner_kernel`) gets no machine code: it would never be called, since every entry
  from Python holds the code of all below it.

What is kept on disk and how it is loaded are numba's own, and arithmetic is strict, so numbers are the same.
"""

# mypy: disable-error-code="no-untyped-call, misc"

from __future__ import annotations

import platform
import re
import sys
from typing import Any, cast

import llvmlite.binding as llvm_binding  # numba brings it along
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import require_global_compiler_lock

TRIED = ("0.68.",)  # versions of numba; with others, and on other systems, numba links alone
TRIED_SYSTEM = ("linux", "x86_64")
LARGE = 300  # instructions; LLVM inlines what costs less than about 50
ENTRIES = ("_ZN7cpython", "cfunc.")  # how the names of what Python and C call begin
ENVIRONMENT, WAITS = "_ZN08NumbaEnv", ".numba.unresolved$"
HEAD = re.compile(r"^define (?:linkonce_odr |dso_local )+(?P<head>.*) \{$")
llvm, locked = cast(Any, llvm_binding), cast(Any, require_global_compiler_lock)


def declare_large(text: str) -> tuple[str, list[str]]:
    """Returns the text of a module with its large functions declared only, and the names of these."""
    lines, kept, names = text.split("\n"), list[str](), list[str]()
    at = 0
    while at < len(lines):
        line = lines[at]
        end = lines.index("}", at) if line.startswith("define ") else at
        head = HEAD.match(line) if end - at > LARGE else None
        if head is None or " comdat" in line:
            kept += lines[at : end + 1]
        else:
            kept.append(f"declare {head['head']}")
            names.append(_name(line))
        at = end + 1
    return "\n".join(kept), names


def _name(line: str) -> str:
    """The name of the function that a line begins to define."""
    found = re.search(r'@("[^"]*"|[\w.$-]+)\(', line)
    assert found is not None, line
    return found[1].strip('"')


class LinkedOnce(JITCodeLibrary):
    """numba's code of one kernel and of all it calls, where large functions below it are not optimised again."""

    inner = False  # whether only kernels call it
    _final_module: Any

    def finalize(self) -> None:
        """As numba's, with the large functions left out while the rest is optimised.

        Where that fails, for modules of a kind that was not tried, numba links by itself.
        """
        locked()
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        own = self._final_module.clone()
        try:
            self._link_once()
        except (RuntimeError, ValueError, AssertionError):
            self._final_module = own
            super().finalize()
            return
        if self._has_entry():
            self._finalize_final_module()
        else:
            self._finish_without_machine_code()

    def _link_once(self) -> None:
        """Optimises the module with large functions of others declared only, and puts these in."""
        whole, left_out = [], set[str]()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            thin, names = _thinned(library)
            self._final_module.link_in(thin, preserve=True)
            if names:
                whole.append(library)
                left_out.update(names)
        self._optimize_final_module()
        for library in whole:
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if function.name in left_out and function.is_declaration:
                raise AssertionError(f"{function.name} was not put back")
        self._final_module.verify()

    def _has_entry(self) -> bool:
        """Whether Python or C may call it, or something waits for its address (a function that calls itself)."""
        module = self._final_module
        if not self.inner or any(one.name.startswith(WAITS) for one in module.global_variables):
            return True
        return any(one.name.startswith(ENTRIES) for one in module.functions if not one.is_declaration)

    def _finish_without_machine_code(self) -> None:
        """As `_finalize_final_module`, where the code is kept for linking only: its machine code would never be called.

        The process and the file on disk get a module with the same environments and no functions.
        """
        whole = self._final_module
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        lines = [str(self._codegen._create_empty_module(self.name))]
        names = [one.name for one in whole.global_variables if one.name.startswith(ENVIRONMENT)]
        lines += [f'@"{name}" = common global ptr null' for name in names]
        self._final_module = llvm.parse_assembly("\n".join(lines))
        self._final_module.name = whole.name
        try:
            self._finalize_final_module()
        finally:
            self._final_module = whole
        if not all(self._codegen._engine.get_global_value_address(name) for name in names):
            raise AssertionError(f"{self.name} has no place for its environments")  # numba would write to nowhere

    def _optimize_functions(self, module: Any) -> None:
        """As numba's, with fewer passes: all of them follow when the module is whole."""
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager(opt=1)
                passes.run(function, builder)


def _thinned(library: Any) -> tuple[Any, list[str]]:
    """The module of a library for linking, with large functions declared, and their names. It is made once."""
    known = getattr(library, "_counterpoise_thin", None)
    if known is None:
        module = library._get_module_for_linking()
        text, names = declare_large(str(module))
        if names:
            module = llvm.parse_assembly(text)
        known = library._counterpoise_thin = module, names
    return cast(tuple[Any, list[str]], known)


class _EntryCompiler(Compiler):
    """numba's compiler of one function, with the linking of this file."""

    inner = False

    def compile_extra(self, function: Any) -> Any:
        """As numba's."""
        self.state.library = LinkedOnce(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.inner = self.inner
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class _InnerCompiler(_EntryCompiler):
    """The same for a kernel that only kernels call."""

    inner = True


def linking_options(inner: bool) -> dict[str, Any]:
    """Returns options of numba with which a kernel is linked so: none with a numba or a system that was not tried.

    `inner`: only kernels call it.
    """
    if not numba.__version__.startswith(TRIED) or (sys.platform, platform.machine()) != TRIED_SYSTEM:
        return {}
    return {"pipeline_class": _InnerCompiler if inner else _EntryCompiler}
