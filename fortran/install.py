#!/usr/bin/env python3
"""Copies module files from the folder in which the compiler has left them.

usage: install.py FROM TO MODULE.mod ...
"""
import os
import shutil
import sys

source, target, *names = sys.argv[1:]
for name in names:
    shutil.copyfile(os.path.join(source, name), os.path.join(target, name))
