"""Source packages of PyPI, in a virtual environment of the build folder, which is kept. Where something cannot be had the
exit code is 77 and the reason is printed."""
import os
import re
import subprocess
import sys
import tarfile

WAYS = {'near': {}, 'net': {'HOTLANE_NEAR': '0'}, 'lane': {'HOTLANE_NEAR': 'none'}}


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def need_plain_library(build):
    symbols = subprocess.run(['nm', '-D', build / 'lib/libhotlane.so.0'], capture_output=True, text=True).stdout
    if '__asan_init' in symbols or '__tsan_init' in symbols:
        skip("a sanitizer's runtime must be the program's first library")


def pip(folder, *words, **more):
    done = subprocess.run([folder / 'bin/python', '-m', 'pip', *words], capture_output=True, text=True, **more)
    return done.returncode, (done.stdout + done.stderr).strip()


def environment(folder, *packages):
    """A virtual environment with what packages are built from, and these."""
    if subprocess.run([sys.executable, '-m', 'venv', folder], capture_output=True).returncode != 0:
        skip('python3 -m venv does not work here')
    code, text = pip(folder, 'install', '-q', '--only-binary', 'numpy', 'setuptools', 'wheel', *packages)
    if code != 0:
        skip(f'{", ".join(packages)} cannot be installed: ' + text.splitlines()[-1])


def unpack(folder, name, version):
    """The folder of the unpacked source package."""
    source = folder / f'{name}-{version}'
    if not source.exists():
        code, text = pip(folder, 'download', '-q', '--no-deps', '--no-binary', ':all:', '--no-build-isolation', '-d', folder,
                         f'{name}=={version}')
        if code != 0:
            skip('the source package cannot be fetched: ' + text.splitlines()[-1])
        with tarfile.open(source.with_name(source.name + '.tar.gz')) as archive:
            archive.extractall(folder)
    return source


class Outcome:
    """How a job of unittest ended: exit code, output, and of its ranks how many tests each ran, how many had no failure (nor left
    a test out, unless `may_skip`), and why tests were left out."""

    def __init__(self, command, way, may_skip, **environment):
        done = subprocess.run(command, env={**os.environ, **WAYS[way], **environment}, capture_output=True, text=True)
        self.code, self.text = done.returncode, done.stdout + done.stderr
        self.ran = [int(n) for n in re.findall(r'Ran (\d+) tests? in', self.text)]
        self.fine = len(re.findall(r'^(?:\[\d+\] ?)?OK' + (r'\b' if may_skip else '$'), self.text, re.M))
        self.skipped = sorted(set(re.findall(r"skipped '(.*)'", self.text)))

    def is_good(self, ranks):
        return self.code == 0 and self.fine == ranks and len(self.ran) == ranks

    def __str__(self):
        return f'{self.ran[0] if self.ran else 0} tests, {self.fine} ranks without a failure, code {self.code}'
