#!/usr/bin/env python3
"""Checks what systemd makes of the unit of a firmware, in a machine of which systemd is process 1.

    check_unit.py NAME [--machine PID] [--controller] [--own]

PID is that systemd, as this process sees it: of a container, or 1 for this machine. Without a controller, the peripheral waits
for bluetoothd; with one, it is on the air. --own: the program is none of this project, and does not check its configuration.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

from systemd_unit import Journal, State, drop_in, inside, journal, position, said, status_of, summary, systemctl, until, use

options = argparse.ArgumentParser()
options.add_argument('name')
options.add_argument('--machine', default='1')
options.add_argument('--controller', action='store_true')
options.add_argument('--own', action='store_true')
options = options.parse_args()
name = options.name
is_container = options.machine != '1'
use(name, options.machine)
unit = name + '.service'
RIG = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'System', 'rig')
failures = []


def check(what, holds, told=''):
    print(('ok   ' if holds else 'FAIL ') + what, flush=True)
    if not holds:
        failures.append(what)
        print(''.join('     %s\n' % line for line in str(told).strip().splitlines()[-25:]), end='', flush=True)
    return holds


def fits(state):
    """Whether the words are what is to be said of the peripheral."""
    return state['StatusText'].startswith('On the air.' if options.controller else 'bluetoothd is not running')


def has_ended_in_order(state):
    """By itself, with the status 0."""
    return state['ActiveState'] == 'inactive' and state['Result'] == 'success' and (
        state['ExecMainCode'], state['ExecMainStatus']) == ('1', '0')


def comes_back(what, state, words):
    """After something that has ended the program."""
    log, before = Journal(), state
    words()
    state = until(lambda new: new.is_active and new.restarts > before.restarts and fits(new))
    check(what, state.is_active and state.process != before.process and state.restarts == before.restarts + 1 and fits(state),
          summary(state))
    return state, log.lines()


def starts():
    state = until(lambda state: state.is_active and fits(state))
    check('it is started with the machine', state.is_active, summary(state))
    systemctl('stop', unit)
    log = Journal()
    status, told = systemctl('start', unit)
    state = State()
    lines = log.lines()
    begun, ready, started = (position(lines, words) for words in ('Starting', '(READY=1', 'Started'))
    check('systemctl start returns when it is active', status == 0 and state.is_active, told + summary(state))
    check('that is when it has said READY=1, and no sooner',
          None not in (begun, ready, started) and begun < ready < started and state['Type'] == 'notify', '\n'.join(lines))
    state = until(fits)
    check('systemctl status shows what it does: ' + state['StatusText'], fits(state), summary(state))
    # NotifyAccess=main has systemd listen to this process alone.
    check('systemd listens to its main process', state['NotifyAccess'] == 'main', state['NotifyAccess'])


def rights(static):
    state = State()
    owner = status_of(state.process, 'Uid').split()[0]
    if static:
        check('it runs as the user of the package', owner == said('id', '-u', name) != '0', owner)
    else:
        check('it runs as a dynamic user', 61184 <= int(owner) <= 65519, owner)
    place = said('stat', '-c', '%u %a %F', '/var/lib/private/' + name)
    check('its state directory is its own, and nobody else may look', place == owner + ' 700 directory', place)
    check('it has the directory by its name', said('readlink', '/var/lib/' + name) == 'private/' + name)
    check('it is in the group of Bluetooth', said('getent', 'group', 'bluetooth').split(':')[2]
          in status_of(state.process, 'Groups').split())
    capabilities = {key: status_of(state.process, key) for key in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}
    check('it has no capability, and can get none',
          not any(int(value, 16) for value in capabilities.values()) and status_of(state.process, 'NoNewPrivs') == '1',
          capabilities)
    check('its system calls are filtered', status_of(state.process, 'Seccomp') == '2')
    there = ['nsenter', '--target', str(state.process), '--mount', '--root', '--wd=/']
    # Even root could not.
    writable = [place for place in ('/usr', '/etc', '/var', '/var/lib', '/srv') if inside(*there, 'test', '-w', place)[0] == 0]
    check('the system is not writable where it runs', not writable, writable)
    # In places that everybody may write in, it may as well; those of temporary files are its own.
    mine = ['setpriv', '--reuid=' + owner, '--regid=' + owner, '--clear-groups', 'find', '/', '(', '-path', '/proc', '-o',
            '-path', '/host', ')', '-prune', '-o', '-type', 'd', '-writable', '-print']
    writable = said(*there, *mine).splitlines()
    public = re.compile('/(tmp|var/tmp|dev/shm|dev/mqueue|run/lock)(/|$)')
    writable = {place for place in writable if place.startswith('/') and not public.match(place)}
    check('it may write in its state directory alone', writable == {'/var/lib/private/' + name}, writable)
    if is_container:
        own = {kind for kind in ('user', 'ipc', 'uts', 'mnt')
               if said('readlink', '/proc/%d/ns/%s' % (state.process, kind)) != said('readlink', '/proc/1/ns/' + kind)}
        check('users, shared memory, the name of the machine and mounts are its own', own == {'user', 'ipc', 'uts', 'mnt'}, own)
    threads = int(status_of(state.process, 'Threads'))
    memory = int(status_of(state.process, 'VmHWM').split()[0])
    check('it has %d of %s threads, and %d KB of %d' % (threads, state['TasksMax'], memory, int(state['MemoryMax']) // 1024),
          threads < int(state['TasksMax']) and memory * 1024 < int(state['MemoryMax']))


def comes_back_when_killed():
    state = State()
    state, _ = comes_back('killed (SIGKILL), it is started again and active', state,
                          lambda: systemctl('kill', '--kill-who=main', '--signal=KILL', unit))
    # The default of systemd gives up at the fifth start within ten seconds.
    first = state
    for _ in range(7):
        before = until(lambda new: new.process > 0)
        systemctl('kill', '--kill-who=main', '--signal=KILL', unit)
        state = until(lambda new: new['ActiveState'] == 'failed' or new.process not in (0, before.process))
    state = until(lambda new: new['ActiveState'] == 'failed' or new.is_active)
    check('killed seven times in a row, it is still started again', state.is_active and state.restarts == first.restarts + 7,
          summary(state))


def comes_back_when_it_hangs():
    check('the unit keeps a watchdog', State()['WatchdogUSec'] == '30s', State()['WatchdogUSec'])
    print('     (of 2 seconds, from here on)')
    drop_in('watchdog', 'WatchdogSec=2')
    systemctl('restart', unit)
    first = State()
    state = until(lambda new: int(new['WatchdogTimestampMonotonic']) > int(first['WatchdogTimestampMonotonic']) + 4_000_000)
    check('signs of life keep it running past twice that time',
          state.is_active and state.process == first.process and state.restarts == first.restarts, summary(state))
    _, lines = comes_back('an event loop that stands still (SIGSTOP) is ended by the watchdog, and it is active again', state,
                          lambda: systemctl('kill', '--kill-who=main', '--signal=STOP', unit))
    check('it was the watchdog', position(lines, 'Watchdog timeout') is not None
          and position(lines, "Failed with result 'watchdog'") is not None, '\n'.join(lines))
    drop_in('watchdog')
    systemctl('restart', unit)
    check('and the unit is as it was', State()['WatchdogUSec'] == '30s')


def misses_no_call():
    """A system call that the filter forbids would fail with EPERM; here it is the end of the process."""
    systemctl('stop', unit)
    drop_in('forbidden', 'SystemCallErrorNumber=kill')
    log = Journal()
    status, told = systemctl('start', unit)
    before = until(lambda state: state['ActiveState'] == 'failed' or fits(state))
    systemctl('stop', unit)
    after = State()
    lines = log.lines()
    check('none of its system calls is forbidden, from start to end',
          status == 0 and before.is_active and before.restarts == 0 and has_ended_in_order(after)
          and position(lines, 'SYS') is None, told + summary(before) + summary(after))
    drop_in('forbidden')


def gives_up_without_configuration():
    systemctl('stop', unit)
    place = '/etc/%s.conf' % name
    kept = inside('cat', place)[1]
    inside('sh', '-c', 'cat >> ' + place, text='this is no setting\n')
    log = Journal()
    status, _ = systemctl('start', unit)
    state = State()
    check('of a configuration that it does not understand it says so: start fails', status != 0 and any(
        place in line and 'is not NAME=value' in line for line in log.lines()), summary(state))
    check('with the status 78 it is not started again', state['ActiveState'] == 'failed' and state['ExecMainStatus'] == '78'
          and state.restarts == 0, summary(state))
    inside('sh', '-c', 'cat > ' + place, text=kept)
    status, told = systemctl('start', unit)
    state = until(lambda state: state['ActiveState'] == 'failed' or fits(state))
    check('with the configuration mended it starts', status == 0 and state.is_active, told + summary(state))


def serves_a_central():
    """What a central of the rig gets of it; others know no heart rate sensor."""
    def central(*arguments):
        done = subprocess.run([sys.executable, os.path.join(RIG, 'central.py'), *arguments, '--service', '180d'],
                              stdout=subprocess.PIPE, text=True, timeout=120)
        return json.loads(done.stdout)

    found = central('read', '2a38')
    check('a central finds it, connects, and reads where it is worn', found.get('value') == '01', found)
    heard = central('subscribe', '2a37', '--count', '2')
    check('a central is notified of a heart rate', bool(heard.get('values') or heard.get('notifications')), heard)


def observes():
    """With the drop-in of the package, which lets it see the packets that leave."""
    inside('sh', '-c', 'cp /usr/share/doc/%s/examples/observation.conf /run/systemd/system/%s.d/' % (name, unit))
    systemctl('daemon-reload')
    status, told = systemctl('restart', unit)
    state = until(lambda state: state['ActiveState'] == 'failed' or fits(state))
    # Bit 13 is CAP_NET_RAW.
    check('with observation.conf, it has CAP_NET_RAW and no other capability, and is on the air',
          status == 0 and state.is_active and fits(state) and int(status_of(state.process, 'CapEff'), 16) == 1 << 13
          and int(status_of(state.process, 'CapBnd'), 16) == 1 << 13, told + summary(state))
    if name == 'heart-rate-sensor':
        serves_a_central()


def stops():
    before = until(fits)
    log, begun = Journal(), time.monotonic()
    status, told = systemctl('stop', unit)
    seconds = time.monotonic() - begun
    state = State()
    lines = log.lines()
    check('systemctl stop ends it with the status 0, in %.1f s' % seconds, before.is_active and status == 0
          and has_ended_in_order(state),
          told + summary(state))
    check('it says that it is stopping (STOPPING=1)', position(lines, '(STOPPING=1') is not None, '\n'.join(lines))
    check('and is not killed', not any(re.search('SIGKILL|timed out|SIGABRT', line) for line in lines), '\n'.join(lines))


def has_a_dynamic_user():
    """As the unit is without the user of the package, whether or not the bus takes connections from such a one."""
    systemctl('stop', unit)
    status, told = inside('userdel', name)
    check('its user is gone', status == 0 and inside('id', name)[0] != 0, told)
    status, told = systemctl('start', unit)
    state = State()
    if check('without it, it is active with a dynamic one: ' + state['StatusText'], status == 0 and state.is_active,
             told + summary(state)):
        rights(static=False)


print('     ' + said('systemctl', '--version').splitlines()[0] + ', Linux ' + os.uname().release)
systemctl('log-level', 'debug')
starts()
rights(static=True)
if options.controller and name == 'heart-rate-sensor':
    serves_a_central()
comes_back_when_killed()
comes_back_when_it_hangs()
if not options.own:
    # Libdispatch sets the priorities of its threads. It goes on where it may not; firmware does not use it.
    misses_no_call()
    gives_up_without_configuration()
if options.controller:
    observes()
stops()
if is_container:
    has_a_dynamic_user()
kept_from = re.compile('not permitted|EPERM|denied|seccomp|SIGSYS|status=31')
forbidden = [line for line in journal() if kept_from.search(line)]
check('the journal of the unit tells of nothing that it was kept from', not forbidden, '\n'.join(forbidden))
sys.exit(1 if failures else 0)
