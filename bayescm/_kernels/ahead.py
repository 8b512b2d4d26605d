"""Compile the kernels ahead of time: one shared library without Numba or Python in it, which ctypes loads.

``python -m bayescm._kernels.ahead [FILE]`` writes it, by default into the cache folder, where this tree finds it; the
build of a wheel puts it into the package (``hatch_build.py``). It takes Numba, a C compiler and Linux, and about
a minute of two processors.

Most of what Numba takes for a kernel is that all it calls is optimised, once for itself and again in every caller. Here
each is only typed and lowered; all are linked, and optimised once for each kind of processor. That reaches into Numba
(tried with 0.68), so whatever fails here fails the build, and the kernels are compiled on first use instead.
"""

import importlib
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from llvmlite import ir
from numba import types
from numba.core import bytecode, codegen, cpu
from numba.core.registry import cpu_target
from numba.core.runtime import nrtdynmod
from numba.core.runtime.nrt import rtsys

from bayescm._kernels import cache, codes, jit
from bayescm._kernels.library import ANY, NAME, V3, symbol
from bayescm._kernels.signatures import ENTRIES, RECORDS

PROCESSORS = {"x86_64": {V3: "x86-64-v3", ANY: "x86-64"}, "aarch64": {ANY: "generic"}}
"""By machine: the variants of every kernel, and what LLVM calls the oldest processor that each runs on."""
_HALF = "distributions.", "joint."
"""Modules whose kernels take half of the time to lower (50 of 102 s), and have little in common with the others."""
_APART = 10**6
"""More functions than are lowered: Numba numbers them, and their names in two processes must differ."""
_NUMBERS = {"f": types.float64, "i": types.int64, "b": types.boolean}
_optimise_functions = codegen.JITCodeLibrary._optimize_functions
_optimise_module = codegen.JITCodeLibrary._optimize_final_module


def build(file: Path) -> None:
    """Compile all kernels into a shared library."""
    if sys.platform != "linux" or platform.machine() not in PROCESSORS:
        raise OSError(f"kernels are compiled ahead of time on Linux only, for {' and '.join(PROCESSORS)}.")
    manifest = {"sources": cache.sources()} | {name: version(name) for name in ("numba", "llvmlite")}
    variants = PROCESSORS[platform.machine()]
    halves = [[name for name in ENTRIES if name.startswith(_HALF) is its] for its in (True, False)]
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:  # a process lowers once
        (whole, names), *others = pool.map(_part, itertools.count(), halves)
        module = llvm.parse_bitcode(whole)
        for other, more in others:
            module.link_in(llvm.parse_bitcode(other))
            names |= more
        objects = [Path(folder, f"{variant}.o") for variant in variants]
        emit = partial(_machine_code, module.as_bitcode(), names)
        for object_file, code in zip(objects, pool.map(emit, variants, variants.values()), strict=True):
            object_file.write_bytes(code)
        made = Path(folder, NAME)
        options = ["-O2", "-fPIC", "-shared", "-s", "-Wl,--no-undefined", "-o", str(made)]
        literal = f"-DMANIFEST={json.dumps(json.dumps(manifest))}"
        sources = [str(file) for file in (Path(__file__).with_suffix(".c"), *objects)]
        subprocess.run([os.environ.get("CC", "cc"), *options, literal, *sources, "-lm"], check=True)
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        beside.write_bytes(made.read_bytes())
        beside.replace(file)


def _part(number: int, entries: list[str]) -> tuple[bytes, dict[str, str]]:
    """Return one module of some kernels and all that they call, and how they are called in it."""
    bytecode.FunctionIdentity._unique_ids = itertools.count(number * _APART)
    _only_lower()
    kernels = {name: _lowered(name, *ENTRIES[name]) for name in entries}
    names = {kernel.fndesc.mangled_name: name for name, kernel in kernels.items()}
    return _linked([kernel.library for kernel in kernels.values()]).as_bitcode(), names


def _only_lower() -> None:
    """Let Numba make the code of kernels, but neither optimise nor load it."""
    nrtdynmod._define_atomic_inc_dec = _change_of_count
    for known in (cpu_target.typing_context, cpu_target.target_context):
        known.refresh()
    rtsys.initialize(cpu_target.target_context)  # Numba's own runtime is compiled as always
    jit.FOLDER = None
    jit.OPTIONS["no_cpython_wrapper"] = True
    library: Any = codegen.JITCodeLibrary
    context: Any = cpu.CPUContext
    library._optimize_functions = lambda self, module: setattr(module, "data_layout", self._codegen._data_layout)
    library.finalize = lambda self: setattr(self, "_finalized", True)
    context.get_executable = lambda self, library, fndesc, env: [].append  # any callable that is no other's


def _change_of_count(module: Any, change: str, ordering: str) -> Any:
    """Define the function that adds or subtracts ("sub") a reference to an array, and gives how many there are then.

    Not atomically, which a seventh of the time of intervals of MCC went into: a call's arrays are of no other thread.
    """
    word = nrtdynmod._word_type
    function = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), f"nrt_atomic_{change}")
    builder, (count,) = ir.IRBuilder(function.append_basic_block()), function.args
    changed = getattr(builder, change)(builder.load(count), ir.Constant(word, 1))
    builder.store(changed, count)
    builder.ret(changed)
    return function


def _lowered(name: str, takes: str, gives: str) -> Any:
    """Return what Numba makes of a kernel."""
    module, function = name.split(".")
    dispatcher = getattr(importlib.import_module(f"bayescm._kernels.{module}"), function)
    dispatcher.compile(tuple(map(_type, takes.split())))
    (made,) = dispatcher.overloads.values()
    results = [_type(result) for result in gives.split()]
    expected = types.Tuple(results) if len(results) > 1 else results[0] if results else types.none
    if made.signature.return_type != expected:
        raise TypeError(f"{name} gives {made.signature.return_type}; `signatures` says {expected}.")
    return made


def _type(name: str) -> Any:
    """Return Numba's type of that name in `signatures`."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name == "rng":
        return types.npy_rng
    if name in RECORDS:
        fields = [_type(field) for field in RECORDS[name].split()]
        record = getattr(codes, name.rstrip("23"), None)
        return types.Tuple(fields) if record is None else types.NamedTuple(fields, record)
    return types.Array(_NUMBERS[name[0]], int(name[1]), "A" if name.endswith("A") else "C")


def _linked(libraries: list[Any]) -> Any:
    """Return one module of these libraries and all that they call."""
    whole = cpu_target.target_context.codegen().create_library("kernels")._final_module
    seen = set()
    while libraries:
        library = libraries.pop()
        if library in seen:
            continue
        seen.add(library)
        libraries.extend(library._linking_libraries)
        for function in library._final_module.functions:
            if function.linkage in (llvm.Linkage.external, llvm.Linkage.linkonce_odr) and not function.is_declaration:
                function.linkage = "weak_odr"  # kept until all is linked, though several have it
        whole.link_in(library._final_module)
    return whole


def _machine_code(whole: bytes, names: dict[str, str], variant: str, processor: str) -> bytes:
    """Return the object file of all kernels for a kind of processor; of their names none but theirs is seen."""
    module, generator = llvm.parse_bitcode(whole), cpu_target.target_context.codegen()
    for function in module.functions:
        if function.name in names:
            function.name, function.linkage = symbol(names[function.name], variant), "external"
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if variable.linkage == llvm.Linkage.common:  # pointers that only wrappers for Python fill
            variable.linkage = "internal"
    target = llvm.Target.from_triple(llvm.get_process_triple())
    generator._tm = target.create_target_machine(cpu=processor, opt=3, reloc="pic", codemodel="default")
    library = generator.create_library(variant)
    library._final_module = module
    _optimise_functions(library, module)
    _optimise_module(library)
    library._final_module.verify()
    return bytes(generator._tm.emit_object(library._final_module))


def main() -> None:
    """Build, and say where."""
    folder = cache.folder()
    if len(sys.argv) < 2 and folder is None:
        raise SystemExit("bayescm: no cache folder can be written: name a file, or set BAYESCM_CACHE_DIR to a folder")
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(str(folder), NAME)
    build(file)
    print(f"bayescm: compiled {len(ENTRIES)} kernels into {file} ({file.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
