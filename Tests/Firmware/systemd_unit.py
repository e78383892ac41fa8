"""A unit of systemd in a machine of which systemd is process 1: what it tells of it, and orders that it gets."""

import re
import subprocess
import time

# What a slow machine may take for what is a moment on others.
SECONDS = 60
unit = None
enter = []


def use(name, machine):
    """Names the unit, and process 1 of its machine as this process sees it: of a container, or 1 of this one."""
    global unit, enter
    unit = name + '.service'
    namespaces = [] if machine == '1' else ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup']
    enter = ['nsenter', '--target', machine, '--root', '--wd=/', *namespaces, '--', 'env', '-i', 'LC_ALL=C', 'SYSTEMD_COLORS=0',
             'PATH=/usr/sbin:/usr/bin:/sbin:/bin']


def inside(*command, text=None):
    """The status of a command in the machine, and what it says."""
    done = subprocess.run([*enter, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          input=text, stdin=None if text is not None else subprocess.DEVNULL, cwd='/')
    return done.returncode, done.stdout


def said(*command):
    return inside(*command)[1].strip()


def systemctl(*arguments):
    return inside('systemctl', '--no-pager', *arguments)


class State(dict):
    """What systemd tells of the unit."""

    def __init__(self):
        super().__init__(line.split('=', 1) for line in systemctl('show', unit)[1].splitlines() if '=' in line)

    def __missing__(self, key):
        return ''       # such as the words of a program that has not said any

    @property
    def process(self):
        return int(self['MainPID'])

    @property
    def restarts(self):
        return int(self['NRestarts'])

    @property
    def is_active(self):
        return self['ActiveState'] == 'active' and self.process > 0


def until(condition, seconds=SECONDS):
    """The state of the unit when a condition holds of it, or when the time is up."""
    end = time.monotonic() + seconds
    while not condition(state := State()) and time.monotonic() < end:
        time.sleep(0.05)
    return state


def summary(state):
    keys = ('ActiveState', 'SubState', 'Result', 'StatusText', 'MainPID', 'NRestarts', 'ExecMainCode', 'ExecMainStatus')
    return ' '.join('%s=%s' % (key, state.get(key)) for key in keys) + '\n' + '\n'.join(journal()[-20:])


class Journal:
    """A place in the unit's journal; what systemd and the program write from here on."""

    def __init__(self):
        self.cursor = re.search(r'-- cursor: (.*)', said('journalctl', '-n', '1', '--show-cursor', '-o', 'cat'))[1]

    def lines(self):
        inside('journalctl', '--sync')
        return said('journalctl', '-u', unit, '-o', 'cat', '--no-pager', '--after-cursor', self.cursor).splitlines()


def journal():
    """What the program and systemd have written since the machine has started, without what is for those who debug systemd."""
    inside('journalctl', '--sync')
    return said('journalctl', '-b', '-u', unit, '-p', 'info', '-o', 'cat', '--no-pager').splitlines()


def position(lines, words):
    return next((index for index, line in enumerate(lines) if words in line), None)


def drop_in(which, *settings):
    """Sets something else than the unit does, until the machine ends or the setting is taken back by none."""
    place = '/run/systemd/system/%s.d' % unit
    text = ''.join(setting + '\n' for setting in ('[Service]',) + settings) if settings else ''
    inside('sh', '-c', 'mkdir -p %s && cat > %s/%s.conf' % (place, place, which), text=text)
    systemctl('daemon-reload')


def status_of(process, key):
    found = re.search(r'(?m)^%s:\s*(.*)$' % key, said('cat', '/proc/%d/status' % process))
    return found[1] if found else None
