"""Configuration of attn's lit tests: the tools that RUN lines call by name."""

import os
import shutil

import lit.formats

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".attn", ".ptx", ".test"]
config.excludes = ["Fuzz", "Inputs", "Unit", "bad"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attn_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.attn_build_dir, "tools", "attn-opt"),
        os.path.join(config.attn_build_dir, "tools", "attn-run"),
        config.llvm_tools_dir,
        config.environment.get("PATH", ""),
    ]
)
config.substitutions.append(("%specs", os.path.join(config.attn_source_dir, "specs")))

# Without an assembler the tests that need one are reported as unsupported.
ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
if os.access(ptxas, os.X_OK):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
