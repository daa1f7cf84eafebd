"""Kernels compiled in two stages: machine code is made once for what Python calls, and not for every part of it.

numba by itself makes optimised machine code, and an entry from Python, for every function that it meets: a kernel that
calls others, which call others, is optimised once at each level. Here a kernel that is called by kernels becomes a
*draft*: typed and lowered, and then kept as it is. What Python calls becomes an *entry*: its draft and all drafts below
it, linked, optimised and made machine code together. Arithmetic is strict, so the numbers are the same.

This file reaches into numba: `TRIED` names the versions it was tried with. With others numba compiles kernels alone.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, cast

import llvmlite.binding as llvm
import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags, _make_subtarget, compile_result
from numba.core.environment import Environment
from numba.extending import overload
from numba.np import arrayobj

TRIED = ("0.68.",)  # versions of numba
ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of environments begin
numba_types, numba_arrays = cast(Any, types), cast(Any, arrayobj)  # they have no types


def drafts_work() -> bool:
    """Returns whether kernels are compiled in two stages with the numba that is installed."""
    return numba.__version__.startswith(TRIED)


class _DraftLibrary(JITCodeLibrary):
    """Code of a kernel and of all it calls, linked and not optimised."""

    def _optimize_functions(self, module: Any) -> None:
        """Removes what is not used: numba mentions every kernel that is called by its address in this process."""
        module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder(opt=0, loop_vectorize=False, slp_vectorize=False)
        passes = llvm.newpassmanagers.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_dead_code_elimination_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(module, builder)

    def finalize(self) -> None:
        self._raise_if_finalized()
        seen = set()
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No machine code is there."""
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(self._codegen)

    def serialize_using_object_code(self) -> Any:
        self._ensure_finalized()
        return self.name, "draft", self._final_module.as_bitcode()


class _EntryLibrary(JITCodeLibrary):
    """Machine code of a kernel that Python calls. Kernels never link it: of its bitcode the names are kept."""

    def serialize_using_object_code(self) -> Any:
        self._ensure_finalized()
        module = self._final_module
        known = [f'define void @"{one.name}"() {{ ret void }}' for one in module.functions if not one.is_declaration]
        known += [
            f'@"{one.name}" = common global ptr null' for one in module.global_variables if ENVIRONMENT in one.name
        ]
        names = llvm.parse_assembly("\n".join([f'target triple = "{module.triple}"', *known]))
        return self.name, "object", (self._get_compiled_object(), names.as_bitcode())


class _NoEnvironment:
    """numba's code generator for a draft: its environment is set when an entry with it is made."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to do."""


class _Flags(Flags):
    """numba's options of one compilation. They are compared for every call that is typed: here quickly."""

    __slots__ = ()
    HASH = hash(tuple(sorted(Flags.options)))

    def __hash__(self) -> int:
        return self.HASH  # numba's own is the same for all

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Flags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))


class _DraftCompiler(Compiler):
    """numba's compiler, with a draft as result."""

    def compile_extra(self, function: Any) -> Any:
        self.state.library = _DraftLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        usual, numba_arrays.raise_with_shape_context = numba_arrays.raise_with_shape_context, _raise_shapes
        try:
            return super().compile_extra(function)
        finally:
            numba_arrays.raise_with_shape_context = usual


def _raise_shapes(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    """What kernels do where a slice and what is put into it differ. numba's own message takes seconds to compile."""


@overload(_raise_shapes)
def _write_raise_shapes(source: Any, target: Any) -> Any:
    def raise_plainly(source: Any, target: Any) -> Any:
        raise ValueError("cannot assign slice from input of different size")

    return raise_plainly


class _DraftCache(CompileResultCacheImpl):
    """Reads drafts back."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        stored, described, environment, signature, objectmode, lifted, _, reload_init, environments = payload
        for function in reload_init:
            function()
        name, _, bitcode = stored
        library = _DraftLibrary(target_context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return cast(Any, compile_result)(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, described, environment),
            fndesc=described,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            reload_init=reload_init,
            referenced_envs=environments,
        )


def make_draft(function: Callable[..., object], **options: Any) -> Any:
    """Returns numba's dispatcher for the drafts of a kernel, one for each signature."""
    options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = cast(Any, numba.njit(cache=True, pipeline_class=_DraftCompiler, **options)(function))
    if getattr(made._cache, "_impl", None) is not None:
        made._cache._impl = cast(Any, _DraftCache)(function)
    made._compiler._customize_flags = _Flags
    find = made.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        """An integer constant as argument makes no version of its own."""
        plain = numba_types.unliteral
        return find([plain(one) for one in args], {name: plain(one) for name, one in kws.items()})

    made.get_call_template = get_call_template
    return made


def use_draft(made: Any, draft: Any) -> None:
    """Lets kernels call the drafts of a kernel, and its entries be made from them."""
    made.get_call_template, made.get_overload = draft.get_call_template, draft.get_overload

    def compile_entry(args: Any, return_type: Any) -> Any:
        draft.compile(tuple(args))
        drafted = draft.overloads[tuple(args)]
        flags = Flags()
        draft._compiler.targetdescr.options.parse_as_flags(flags, draft._compiler.targetoptions)
        context, described = _make_subtarget(draft.targetctx, flags), copy(drafted.fndesc)
        described.env_name += ".entry"  # the wrapper puts its own constants there
        environment = cast(Any, Environment).from_fndesc(described)
        library = _EntryLibrary(context.codegen(), drafted.library.name)
        library.enable_object_caching()
        library.add_linking_library(drafted.library)
        context.create_cpython_wrapper(library, described, environment, drafted.call_helper)
        found = context.get_executable(library, described, environment)
        context.insert_user_function(found, described, [library])
        made_of_it = drafted._replace(
            target_context=context,
            library=library,
            entry_point=found,
            fndesc=described,
            environment=environment,
            metadata={},
        )
        environments = made_of_it._find_referenced_environments()
        for one in environments:
            context.codegen().set_env(one.env_name, one)
        return made_of_it._replace(referenced_envs=environments)

    made._compiler.compile = compile_entry
