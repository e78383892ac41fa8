"""Parses the Yocto layer with bitbake's own parser, and carries out what its recipes install.

    check_yocto.py LAYER PROGRAM

OpenEmbedded-Core is not there: what the recipes inherit of it is replaced by classes that are nearly empty, and of its
configuration there is what the recipes name. What needs the real one is checked by `yocto` with OECORE and BITBAKE.
"""

import glob
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import traceback
import types

# The package on PyPI comes without the servers for hashes, which the parser names and does not use here.
for missing in ('hashserv', 'hashserv.client'):
    sys.modules[missing] = types.ModuleType(missing)
sys.modules['hashserv'].client = sys.modules['hashserv.client']

import bb  # noqa: E402
import bb.codeparser  # noqa: E402
import bb.data  # noqa: E402
import bb.data_smart  # noqa: E402
import bb.fetch2  # noqa: E402
import bb.parse  # noqa: E402
import bb.utils  # noqa: E402
from bb.parse.parse_py import BBHandler  # noqa: E402

layer, program = map(os.path.abspath, sys.argv[1:])
failures = 0
work = tempfile.mkdtemp()


def check(what, holds, told=''):
    global failures
    print(('ok   ' if holds else 'FAIL ') + what)
    if not holds:
        failures += 1
        print(''.join('     %s\n' % line for line in str(told).splitlines()[-20:]), end='')


# What stands for OpenEmbedded-Core.
CLASSES = {
    'base': '''
addtask fetch
addtask unpack after do_fetch
addtask configure after do_unpack
addtask compile after do_configure
addtask install after do_compile
addtask build after do_install
do_fetch() {
    :
}
do_unpack() {
    :
}
do_configure() {
    :
}
do_compile() {
    :
}
do_install() {
    :
}
do_build() {
    :
}
''',
    'systemd': '', 'update-rc.d': '', 'useradd': '', 'features_check': '', 'core-image': '',
    'externalsrc': 'B = "${EXTERNALSRC_BUILD}"\n', 'swift': 'BUILD_DIR = "${B}/release"\n',
}
CONFIGURATION = {
    'bindir': '/usr/bin', 'datadir': '/usr/share', 'sysconfdir': '/etc', 'localstatedir': '/var', 'baselib': 'lib',
    'systemd_system_unitdir': '/usr/lib/systemd/system', 'INIT_D_DIR': '/etc/init.d', 'COMMON_LICENSE_DIR': '/licenses',
    'PN': "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}", 'BPN': '${PN}', 'BP': '${PN}-${PV}',
    'PV': "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}",
    'FILESPATH': '${FILESEXTRAPATHS}', 'FILESEXTRAPATHS': '', 'SRC_URI': '', 'D': work + '/image', 'OVERRIDES': 'forcevariable',
    'FILE_DIRNAME': "${@os.path.dirname(d.getVar('FILE', False))}", 'PERSISTENT_DIR': work + '/cache',
    'TMPDIR': work, 'T': work, 'CACHE': work, 'BB_NO_NETWORK': '1', 'BBINCLUDELOGS': '', 'BB_SIGNATURE_HANDLER': 'noop',
}


def conditional(variable, value, yes, no, d):
    return yes if d.getVar(variable) == value else no


oe = types.ModuleType('oe')
oe.utils = types.SimpleNamespace(conditional=conditional)
bb.utils._context['oe'] = oe
bb.utils._context['os'] = os

core = os.path.join(work, 'core')
os.makedirs(core + '/classes')
for name, text in CLASSES.items():
    with open('%s/classes/%s.bbclass' % (core, name), 'w') as f:
        f.write(text or '# ' + name + '\n')
with open(core + '/bluez5_5.87.bb', 'w') as f:
    f.write('PACKAGECONFIG ??= "obex-profiles readline"\ndo_install() {\n    :\n}\n')


def configuration(**settings):
    d = bb.data.init()
    for name, value in CONFIGURATION.items():
        d.setVar(name, value)
    d.setVar('BBPATH', core)
    d.setVar('LAYERDIR', layer)
    d.setVar('SWIFT_PERIPHERAL_PROGRAMS', os.path.dirname(program))
    d.setVar('UNPACKDIR', work + '/sources')
    d.setVar('WORKDIR', work)
    for name, value in settings.items():
        d.setVar(name, value)
    d = bb.parse.handle(layer + '/conf/layer.conf', d, True)
    d.expandVarref('LAYERDIR')
    bb.parse.init_parser(d)
    return d


def parse(recipe, *appends, **settings):
    d = configuration(**settings)
    d.setVar('__bbclasstype', 'global')
    BBHandler.inherit('base', 'configuration INHERITs', 0, d)
    d.setVar('__BBAPPEND', ' '.join(appends))
    return bb.parse.handle(recipe, d)['']


def attempt(what, operation):
    """What the operation returns, or `None` when it fails."""
    try:
        result = operation()
    except BaseException as error:
        check(what, False, traceback.format_exc())
        return None
    check(what, True)
    return result


def shell(d, function):
    """The function and those that it calls, as bitbake writes them into the script of a task."""
    parser = bb.codeparser.ShellParser(function, bb.parse.logger)
    text, todo, done = '', [function], set()
    while todo:
        name = todo.pop()
        if name in done or not d.getVarFlag(name, 'func', False) or d.getVarFlag(name, 'python', False):
            continue
        done.add(name)
        body = d.getVar(name)
        text += '%s() {\n%s}\n' % (name, body)
        todo += re.findall(r'\b(swift_peripheral_\w+)', body)
    parser.parse_shell(text)
    return text


def files(directory):
    found = {}
    for place, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(place, name)
            found[path[len(directory):]] = stat.S_IMODE(os.stat(path).st_mode)
    return found


def unpack(d, directory):
    """As do_unpack does with files; what is not a file is left to real fetchers."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for entry in (d.getVar('SRC_URI') or '').split():
        if not entry.startswith('file://'):
            continue
        name = entry[len('file://'):]
        for place in d.getVar('FILESPATH').split(':'):
            if place and os.path.isfile(os.path.join(place, name)):
                shutil.copy(os.path.join(place, name), directory)
                break
        else:
            raise FileNotFoundError('%s of SRC_URI is nowhere in %s' % (name, d.getVar('FILESPATH')))


def install(d):
    unpack(d, work + '/sources')
    shutil.rmtree(work + '/image', ignore_errors=True)
    script = shell(d, 'do_install')
    done = subprocess.run(['sh', '-e'], input='umask 022\n' + script + 'do_install\n', text=True, cwd=work,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError(done.stdout)
    return files(work + '/image')


recipes = layer + '/recipes-connectivity/swift-peripheral/'
dynamic = layer + '/dynamic-layers/swift-layer/recipes-connectivity/swift-peripheral/'
name = os.path.basename(program)
try:
    d = attempt('the configuration of the layer is parsed', configuration)
    patterns = d.getVar('BBFILES').split() + [entry.partition(':')[2] for entry in d.getVar('BBFILES_DYNAMIC').split()]
    found = {path for pattern in patterns for path in glob.glob(pattern)}
    there = {path for path in (layer + path for path in files(layer)) if re.search(r'\.bb(append)?$', path)}
    check('it names each of its recipes', found == there, found ^ there)
    for init, expected in (
        ('systemd', {'/usr/lib/systemd/system/%s.service' % name: 0o644}),
        ('sysvinit', {'/etc/init.d/%s' % name: 0o755}),
    ):
        d = attempt('%s is parsed for %s' % (name, init), lambda: parse(
            '%s%s_0.bb' % (recipes, name), DISTRO_FEATURES='bluetooth ' + init))
        expected = dict(expected, **{'/usr/bin/%s' % name: 0o755, '/usr/share/dbus-1/system.d/%s.conf' % name: 0o644})
        if os.path.exists('%s/../../debian/%s.conf' % (layer, name)):
            expected['/etc/%s.conf' % name] = 0o644
        installed = attempt('its do_install runs', lambda: install(d))
        check('it installs the program, the policy, the configuration and what %s wants' % init, installed == expected, installed)
        unfilled = [path for path in installed or {} if path != '/usr/bin/' + name
                    and re.search(r'@[A-Z]+@', open(work + '/image' + path).read())]
        check('all templates are filled in', not unfilled, unfilled)
    interpreter = subprocess.check_output(['patchelf', '--print-interpreter', '%s/image/usr/bin/%s' % (work, name)], text=True)
    check("the program's loader is that of OpenEmbedded", re.fullmatch(r'/lib/ld-linux-[\w.-]+\n', interpreter), interpreter)
    check('its user is the one of its policy, and in the group of its unit',
          (d.getVar('USERADD_PARAM:' + name) or '').endswith(' ' + name)
          and (d.getVar('GROUPADD_PARAM:' + name) or '').endswith(' bluetooth')
          and 'user="%s"' % name in open('%s/image/usr/share/dbus-1/system.d/%s.conf' % (work, name)).read())

    append = '%s%s_%%.bbappend' % (dynamic, name)
    d = attempt('with meta-swift, nothing changes', lambda: parse('%s%s_0.bb' % (recipes, name), append, DISTRO_FEATURES=''))
    check('the program is still the one that was made before', d.getVar('SWIFT_PERIPHERAL_PROGRAM') == 'file://' + name)
    d = attempt('with meta-swift and SWIFT_PERIPHERAL_FROM_SOURCE, it is parsed', lambda: parse(
        '%s%s_0.bb' % (recipes, name), append, DISTRO_FEATURES='', SWIFT_PERIPHERAL_FROM_SOURCE='1'))
    check('it is built then, and not taken from elsewhere',
          'file://%s ' % name not in d.getVar('SRC_URI') + ' ' and '/build/release/' + name in shell(d, 'do_install')
          and not d.getVarFlag('do_compile', 'noexec') and os.path.exists(d.getVar('EXTERNALSRC') + '/Package.swift'),
          d.getVar('SRC_URI'))

    for other in sorted(set(os.listdir(recipes))):
        if other.endswith('.bb') and not other.startswith(name + '_'):
            attempt(other + ' is parsed', lambda: parse(recipes + other, DISTRO_FEATURES='systemd'))
    empty = dict(DISTRO_FEATURES='', SWIFT_PERIPHERAL_PROGRAMS=work)
    d = attempt('without a program, its recipe is parsed', lambda: parse('%s%s_0.bb' % (recipes, name), **empty))
    reason = str(d.getVar('__SKIPPED', False))
    check('it is left out, with the reason: ' + reason.replace(work, '.'), 'make firmware EXAMPLE=' + name in reason, reason)
    d = attempt('to be built from source, it is parsed as well', lambda: parse(
        '%s%s_0.bb' % (recipes, name), append, SWIFT_PERIPHERAL_FROM_SOURCE='1', **empty))
    check('it is not left out then', d.getVar('__SKIPPED', False) is None, d.getVar('__SKIPPED', False))
    attempt('the image is parsed', lambda: parse(layer + '/recipes-core/images/swift-peripheral-image.bb', DISTRO_FEATURES=''))

    bluez = layer + '/recipes-connectivity/bluez5/bluez5_%.bbappend'
    d = attempt('the append of bluez5 is parsed', lambda: parse(core + '/bluez5_5.87.bb', bluez, DISTRO_FEATURES='bluetooth'))
    check('it changes nothing by itself', d.getVar('SRC_URI') == '' and 'obex-profiles' in d.getVar('PACKAGECONFIG'))
    d = attempt('it is parsed with bluetooth-peripheral', lambda: parse(
        core + '/bluez5_5.87.bb', bluez, DISTRO_FEATURES='bluetooth bluetooth-peripheral'))
    installed = attempt('its do_install runs', lambda: install(d))
    check("bluetoothd's settings are installed then", installed == {'/etc/bluetooth/main.conf': 0o644}, installed)
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failures else 0)
