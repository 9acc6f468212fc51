# Paths of the bundle's unit tests, wherever it was unpacked; everything else is in lit.cfg.py beside this file.
import os

config.tests_dir = os.path.dirname(os.path.abspath(__file__))
config.tegula_source_dir = os.path.dirname(os.path.dirname(config.tests_dir))

lit_config.load_config(config, os.path.join(config.tests_dir, "lit.cfg.py"))
