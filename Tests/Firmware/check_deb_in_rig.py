#!/usr/bin/env python3
"""Inside the rig's machine: installs the package of the heart rate sensor, keeps everybody but root from bluetoothd by bluez's
policy, so that only the package's own lets it in, runs the program as its unit would, and has a central use it.

    check_deb_in_rig.py PACKAGE
"""

import glob
import json
import os
import re
import subprocess
import sys

package = sys.argv[1]
rig = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'System', 'rig')


def check(what, holds, told=''):
    print('ok   ' + what if holds else 'FAIL %s\n%s' % (what, told), flush=True)
    if not holds:
        sys.exit(1)


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def central(*arguments):
    done = subprocess.run(['python3', rig + '/central.py', *arguments, '--service', '180d'], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


status, told = run('dpkg', '-i', package, env=dict(os.environ, DEBIAN_FRONTEND='noninteractive'))
check('it installs beside the bluetoothd of this machine', status == 0, told)
name = subprocess.check_output(['dpkg-deb', '-f', package, 'Package'], text=True).strip()

# Of what bluez allows, only what it allows root is left.
for place in glob.glob('/etc/dbus-1/system.d/bluetooth.conf') + glob.glob('/usr/share/dbus-1/system.d/bluetooth.conf'):
    with open(place) as f:
        policy = f.read()
    policy = re.sub(r'(?s)<policy (group|context|at_console)=.*?</policy>', '', policy)
    nobody = '<policy context="default"><deny send_destination="org.bluez"/></policy>'
    with open(place, 'w') as f:
        f.write(policy.replace('</busconfig>', nobody + '</busconfig>'))
bus = ['dbus-send', '--system', '--print-reply']
status, told = run(*bus, '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.ReloadConfig')
check('the bus reads the policies anew', status == 0, told)


def user(who):
    return ['setpriv', '--reuid=' + who, '--regid=' + who, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all',
            '--no-new-privs']


question = bus + ['--dest=org.bluez', '/', 'org.freedesktop.DBus.Introspectable.Introspect']
status, told = run(*user('daemon'), *question)
check('another user is kept from bluetoothd', 'AccessDenied' in told, told)
status, told = run(*user(name), *question)
check('the user of the package is let in by its policy', status == 0, told)

with open('/etc/%s.conf' % name, 'a') as f:
    f.write('NAME=Belt\nINTERVAL_MILLISECONDS=200\n')
log = open('/run/program.log', 'w+')
program = subprocess.Popen(user(name) + ['env', '-i', '/usr/bin/' + name], stdout=log, stderr=log)
found = central('read', '2a38')
check('a central finds it, connects, and reads where it is worn', found.get('value') == '01', found)
heard = central('subscribe', '2a37', '--count', '3')
check('a central is notified of a heart rate', bool(heard.get('values') or heard.get('notifications')), heard)
program.terminate()
check('it ends in order when it is told to', program.wait(10) == 0, open('/run/program.log').read())
status, told = run('dpkg', '-P', name)
check('it is purged', status == 0 and not os.path.exists('/etc/%s.conf' % name), told)
