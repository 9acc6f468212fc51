# The GoogleTest programs: every executable beside the lit.site.cfg.py that loads this file and whose name ends in Tests.
import os

import lit.formats

config.name = "tegula-unit"
config.test_format = lit.formats.GoogleTest("", "Tests")
config.test_source_root = config.test_exec_root = config.tests_dir
config.suffixes = []
for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["TEGULA_SOURCE_DIR"] = config.tegula_source_dir
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
