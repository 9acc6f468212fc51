# Paths of the bundle, wherever it was unpacked; everything else is in lit.cfg.py beside this file.
import os
import shutil

here = os.path.dirname(os.path.abspath(__file__))
config.tegula_source_dir = config.tegula_binary_dir = os.path.dirname(here)
config.tegula_tools_dir = config.llvm_tools_dir = os.path.join(os.path.dirname(here), "bin")
config.test_exec_root = os.path.join(os.path.dirname(here), "test-output")
config.ptxas = shutil.which("ptxas") or ""
config.nvdisasm = shutil.which("nvdisasm") or ""
config.compute_sanitizer = shutil.which("compute-sanitizer") or ""
config.sanitize = False

lit_config.load_config(config, os.path.join(here, "lit.cfg.py"))
