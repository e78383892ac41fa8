"""Checks the Buildroot external tree without Buildroot, and carries out what its package installs.

    check_buildroot.py TREE PROGRAM

Of Buildroot, there are the symbols that the tree depends on, and a generic-package that keeps its variables.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import kconfiglib

tree, program = map(os.path.abspath, sys.argv[1:])
name = os.path.basename(program)
failures = 0
work = tempfile.mkdtemp()
os.environ['BR2_EXTERNAL_SWIFT_PERIPHERAL_PATH'] = tree


def check(what, holds, told=''):
    global failures
    print(('ok   ' if holds else 'FAIL ') + what)
    if not holds:
        failures += 1
        print(''.join('     %s\n' % line for line in str(told).splitlines()[-20:]), end='')


def read(path):
    with open(path) as f:
        return f.read()


# Symbols of Buildroot, as they would be for a board with glibc; all can be changed here.
TOOLCHAIN = ['BR2_x86_64', 'BR2_aarch64', 'BR2_USE_MMU', 'BR2_TOOLCHAIN_USES_GLIBC', 'BR2_INSTALL_LIBSTDCPP',
             'BR2_TOOLCHAIN_HEADERS_AT_LEAST_3_4', 'BR2_TOOLCHAIN_HAS_SYNC_4']
PACKAGES = ['BR2_PACKAGE_BLUEZ5_UTILS', 'BR2_PACKAGE_DBUS', 'BR2_PACKAGE_LIBGLIB2']


def kconfig():
    with open(work + '/Config.in', 'w') as f:
        for symbol in TOOLCHAIN:
            f.write('config %s\n\tbool "%s"\n\tdefault y\n\n' % (symbol, symbol))
        for symbol in PACKAGES:
            f.write('config %s\n\tbool "%s"\n\n' % (symbol, symbol))
        f.write('source "%s/Config.in"\n' % tree)
    parsed = kconfiglib.Kconfig(work + '/Config.in', warn_to_stderr=False)
    return parsed


def rules():
    """What utils/check-package of Buildroot looks for in the files that this tree has.

    Its checkpackagelib/lib.py (empty lines, end of the file, trailing space), lib_config.py (the order of attributes and
    their indentation, help of 62 characters) and lib_mk.py (the heading, the name of the package as a prefix, spaces).
    """
    found = []
    for place, _, names in os.walk(tree):
        for file in names:
            path = os.path.join(place, file)
            text = read(path)
            lines = text.split('\n')

            def report(number, what):
                found.append('%s:%d: %s' % (os.path.relpath(path, tree), number, what))
            if not text.endswith('\n'):
                report(len(lines), 'no newline at the end')
            if text.endswith('\n\n'):
                report(len(lines), 'an empty line at the end')
            in_help = False
            for number, line in enumerate(lines, 1):
                if line != line.rstrip():
                    report(number, 'trailing space')
                if number > 1 and not line and not lines[number - 2] and number < len(lines):
                    report(number, 'two empty lines')
                if file == 'Config.in':
                    if re.match(r'(config|if|endif|comment|source|menu)\b', line):
                        in_help = False
                    elif line == '\thelp':
                        in_help = True
                    elif in_help and line and not re.match(r'\t  \S.{0,61}$', line) and 'https://' not in line:
                        report(number, 'help text: <tab><2 spaces><62 chars>')
                    elif line and not in_help and not line.startswith('\t') and not re.match(r'\w', line):
                        report(number, 'attributes are indented by a tab')
                if file.endswith('.mk') and file != 'external.mk':
                    if number in (1, 5) and line != '#' * 80:
                        report(number, 'a heading has 80 hashes')
                    if number in (2, 4) and line != '#':
                        report(number, 'a heading has 1 hash')
                    if number == 3 and line != '# ' + file[:-3]:
                        report(number, 'a heading names the package')
                    if number == 6 and line:
                        report(number, 'an empty line follows the heading')
                    if re.match(r' ', line):
                        report(number, 'indented by spaces')
                    variable = re.match(r'(?:define )?([A-Z0-9_]+)(?: [:+?]?=|$)', line)
                    prefix = file[:-3].upper().replace('-', '_') + '_'
                    if variable and not variable[1].startswith(prefix):
                        report(number, 'the variable has not the prefix ' + prefix)
                    if re.search(r'\S(=|\+=)\S', line) and variable and line.startswith(variable[1]):
                        report(number, 'spaces around the sign')
    return found


# What the makefiles of the tree take from Buildroot.
MAKEFILE = r'''
qstrip = $(strip $(subst ",,$(1)))
define sep


endef
INSTALL := $(shell which install)
TARGET_DIR := %(work)s/target
BR2_EXTERNAL_SWIFT_PERIPHERAL_PATH := %(tree)s
BR2_PACKAGE_SWIFT_PERIPHERAL_PROGRAMS := "%(programs)s"
generic-package = $(info package:$(patsubst %%/,%%,$(notdir $(patsubst %%/,%%,$(dir $(lastword $(MAKEFILE_LIST)))))))
include $(BR2_EXTERNAL_SWIFT_PERIPHERAL_PATH)/external.mk
.PHONY: users
# $(@D) is the directory that the package was copied to.
%(work)s/build/.installed:
	$(SWIFT_PERIPHERAL_INSTALL_TARGET_CMDS)
	$(SWIFT_PERIPHERAL_INSTALL_INIT_%(init)s)
users:
	$(info users:$(SWIFT_PERIPHERAL_USERS))@:
'''


def install(init, **symbols):
    shutil.rmtree(work + '/target', ignore_errors=True)
    shutil.rmtree(work + '/build', ignore_errors=True)
    os.makedirs(work + '/target')
    site = re.search(r'^SWIFT_PERIPHERAL_SITE = \$\(BR2_EXTERNAL_SWIFT_PERIPHERAL_PATH\)(.*)',
                     read(tree + '/package/swift-peripheral/swift-peripheral.mk'), re.M)[1]
    shutil.copytree(tree + site, work + '/build')
    with open(work + '/Makefile', 'w') as f:
        f.write(MAKEFILE % {'work': work, 'tree': tree, 'programs': os.path.dirname(program), 'init': init})
    settings = ['%s=y' % symbol for symbol in symbols]
    done = subprocess.run(['make', '-f', work + '/Makefile', '--warn-undefined-variables', *settings,
                           work + '/build/.installed', 'users'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = {}
    for place, _, names in os.walk(work + '/target'):
        for file in names:
            path = os.path.join(place, file)
            found[path[len(work + '/target'):]] = stat.S_IMODE(os.stat(path).st_mode)
    return done, found


def symbol_of(name):
    return 'BR2_PACKAGE_SWIFT_PERIPHERAL_' + name.upper().replace('-', '_')


try:
    described = dict(line.split(': ', 1) for line in read(tree + '/external.desc').splitlines())
    check('external.desc names the tree',
          re.fullmatch(r'[A-Z0-9_]+', described.get('name', '')) and 'desc' in described, described)

    try:
        parsed = kconfig()
    except kconfiglib.KconfigError as error:
        check('Config.in is parsed', False, error)
        sys.exit(1)
    check('Config.in is parsed without a warning', not parsed.warnings, '\n'.join(parsed.warnings))
    undefined = sorted({node.name for node in parsed.syms.values() if not node.nodes and node.name.startswith('BR2_')
                        and not node.env_var})
    check('it depends on nothing that Buildroot is not known to have', not undefined, undefined)
    package = parsed.syms['BR2_PACKAGE_SWIFT_PERIPHERAL']
    package.set_value('y')
    selected = [symbol for symbol in PACKAGES if parsed.syms[symbol].str_value != 'y']
    check('chosen, it selects what it needs', not selected, selected)
    check('the heart rate sensor and the settings are on by default, the door lock is not',
          [parsed.syms['BR2_PACKAGE_SWIFT_PERIPHERAL_' + end].str_value
           for end in ('HEART_RATE_SENSOR', 'BLUETOOTHD_SETTINGS', 'DOOR_LOCK')] == ['y', 'y', 'n'])
    parsed.syms['BR2_TOOLCHAIN_USES_GLIBC'].set_value('n')
    check('without glibc it cannot be chosen', package.str_value == 'n')
    found = rules()
    check('the rules of check-package are kept', not found, '\n'.join(found))

    settings = {symbol_of(name): 'y', 'BR2_PACKAGE_SWIFT_PERIPHERAL_BLUETOOTHD_SETTINGS': 'y'}
    for init, expected in (
        ('SYSTEMD', {'/usr/lib/systemd/system/%s.service' % name: 0o644}),
        ('SYSV', {'/etc/init.d/S60%s' % name: 0o755}),
    ):
        done, installed = install(init, **settings)
        expected = dict(expected, **{'/usr/bin/%s' % name: 0o755, '/usr/share/dbus-1/system.d/%s.conf' % name: 0o644,
                                     '/etc/bluetooth/main.conf': 0o644})
        check('what it installs for %s runs' % init.lower(), done.returncode == 0, done.stdout)
        check('it installs the program, the policy, the settings and what %s wants' % init.lower(),
              installed == expected, installed)
        unfilled = [path for path in installed if path != '/usr/bin/' + name
                    and re.search('@[A-Z]+@', read(work + '/target' + path))]
        check('all templates are filled in', not unfilled, unfilled)
    users = [line.split() for line in done.stdout.partition('users:')[2].splitlines() if name in line]
    check('its user is the one of its policy, and in the group of its unit',
          users and users[0][:8] == [name, '-1', name, '-1', '*', '-', '-', 'bluetooth']
          and 'user="%s"' % name in read('%s/target/usr/share/dbus-1/system.d/%s.conf' % (work, name)), done.stdout)
    done, installed = install('SYSV')
    check('without a choice it installs nothing', done.returncode == 0 and not installed, '%s\n%s' % (installed, done.stdout))
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failures else 0)
