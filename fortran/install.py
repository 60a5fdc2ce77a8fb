#!/usr/bin/env python3
"""Installs module files, which Meson makes without saying where.

usage: install.py FOLDER_THAT_HAS_THEM FOLDER_BELOW_THE_PREFIX MODULE.mod ...
"""
import os
import shutil
import sys

source, below, *names = sys.argv[1:]
target = os.path.join(os.environ["MESON_INSTALL_DESTDIR_PREFIX"], below)
os.makedirs(target, exist_ok=True)
for name in names:
    shutil.copyfile(os.path.join(source, name), os.path.join(target, name))
