"""A device's image on a board, from the first start to a central that is notified, a killed program, and a power cut.

    image_scenes.py KERNEL IMAGE NAME [--brief]

IMAGE is the directory that Firmware/image/build has made of the peripheral NAME. With --brief, the end is the first
notification.
"""

import asyncio
import signal
import struct
import sys

from board import Board, BoardError

from bumble.core import ProtocolError
from central import Central, RigError, error_name

# How long each step may take; what is waited for ends it.
BOOT = 90.0
STEP = 30.0

HEART_RATE, BATTERY_LEVEL = '2a37', '2a19'
SERVICE_CHANGED = '2a05'
LOCK = '5c3a0012-7e3c-4b6e-9d29-b3f1c0a1d001'
AUDIT = '5c3a0013-7e3c-4b6e-9d29-b3f1c0a1d001'
ADMIT = '5c3a0014-7e3c-4b6e-9d29-b3f1c0a1d001'
LOCKED, UNLOCKED = b'\1', b'\0'
# How many services each has of its own.
SERVICES = {'heart-rate-sensor': 3, 'door-lock': 1}
PHONE, OTHER_PHONE, NEW_PHONE = ('F0:00:00:00:00:%02d' % number for number in (1, 2, 3))


class Failure(Exception):
    """Something is not as promised."""


class Scene:
    """What happens to one board, with one of the peripherals."""

    def __init__(self, board, name):
        self.board, self.name = board, name

    def note(self, what, detail=None):
        print('ok   %7.2f s  %s%s' % (self.board.seconds, what, '' if detail is None else '  [%s]' % (detail,)), flush=True)

    def check(self, what, is_so, detail=None):
        if not is_so:
            raise Failure('%s  [%s]' % (what, detail))
        self.note(what, detail)

    def expect(self, what, value, expected):
        self.check(what, value == expected, value if value == expected else '%r, not %r' % (value, expected))

    def expect_handles(self, database, expected):
        self.check('all handles are as they were', database == expected, ' '.join(
            '%s at %d to %d' % (s['uuid'][:8], s['handle'], s['end']) for s in database))

    async def power_on(self, what):
        await self.board.power_on()
        print('            the power is on %s' % what, flush=True)

    async def connect(self, phone, advertised_name=None):
        """The central finds the peripheral by its name, or whatever there is, and connects."""
        advertiser = await phone.find(name=advertised_name, seconds=BOOT)
        self.note('a central finds it', advertised_name or advertiser.json.get('name'))
        peer = await phone.connect(address=advertiser.json['address'], seconds=STEP)
        # As phones do: with Firmware/init/main.conf, bluetoothd does not ask by itself, and cuts what it sends to 20 bytes.
        await peer.exchange_mtu()
        self.note('the central connects', 'encrypted' if peer.encrypted else None)
        return peer

    async def notified(self, peer, what):
        """The central subscribes, and gets a value."""
        subscription = await peer.subscribe(what)
        self.note('the central subscribes')
        value = await subscription.next(STEP)
        self.note('the central is notified', value.hex())
        return subscription

    def awaits(self, entry):
        """Whether somebody has not been sent this entry of the audit yet; the state file has it in hexadecimal digits then."""
        return "grep -q ' %s$' /var/lib/%s/*.state" % (entry.encode().hex(), self.name)

    async def told(self, audit, entry):
        """The central is told who has used the door; what is not yet known to have been sent would come again."""
        self.expect('the central is told who did it', (await audit.next(STEP)).decode(), entry)
        await self.board.until('! ' + self.awaits(entry), STEP)

    async def examine(self):
        """What the image is, seen from its console."""
        user = await self.board.command("awk '/^Uid/ { print $2, $3 }' /proc/%s/status" % await self.process())
        own = await self.board.command("awk -F: '$1 == \"peripheral\" { print $3, $3 }' /etc/passwd")
        self.expect('the peripheral runs as a user of its own', user, own)
        lines = [line.split() for line in (await self.board.command('ps -o vsz,comm')).splitlines()[1:]]
        running = {words[1] for words in lines if words[0] != '0'}      # the kernel's own have no memory
        supervised = {('S60' + self.name)[:15], self.name[:15], 'logger'}
        needed = supervised | {'init', 'syslogd', 'dbus-daemon', 'btattach', 'bluetoothd'}
        self.check('all runs that is needed, and the console', running == needed | {'sh', 'ps'}, ' '.join(sorted(running)))
        self.check('the root is read-only', 'Read-only' in await self.board.command('touch /etc/x 2>&1 || true'))
        disk = await self.board.command("grep ' /var/lib ' /proc/mounts")
        self.check('what is written to the disk is on it', ' ext4 ' in disk and 'sync' in disk, disk)
        used = await self.board.command("awk '/^MemTotal/ { t = $2 } /^MemAvailable/ { print t - $2 }' /proc/meminfo")
        self.note('memory in use', '%s kB' % used)

    async def kill(self, peer, changed):
        """The peripheral is killed; the central learns that its services go, and that they are back."""
        before = await self.process()
        known = peer.services
        changed.drain()
        await self.board.command('kill -9 %s' % before)
        self.note('the peripheral is killed with -9', 'process %s' % before)
        await self.board.until('pidof %s | grep -qvx %s' % (self.name, before), STEP)
        after = await self.process()
        self.check('it has been started again', after != before, 'process %s' % after)
        # bluetoothd tells of each service by itself, when it goes and when it comes. Those of one handle, by which programs
        # keep out of each other's way, say nothing to a central.
        count = SERVICES[self.name]
        told = []
        while len(told) < 2 * count:
            first, last = struct.unpack('<HH', (await changed.take(1, STEP))[0])
            if first < last:
                told.append((first, last))
        uuids = [s['uuid'] for s in known]
        self.check('the services are there again', [s['uuid'] for s in await peer.discover()] == uuids, ' '.join(uuids))
        gone_and_come = [(s['handle'], s['end']) for s in known[-count:] + peer.services[-count:]]
        self.expect('the central was told of each that it went and that it came', sorted(told), sorted(gone_and_come))
        return peer.services

    async def process(self):
        return await self.board.command('pidof %s' % self.name)

    async def kill_below(self, phone, peer, program, advertised_name, value):
        """Something that the peripheral stands on is killed; the same peripheral serves the central again."""
        peripheral, before = await self.process(), await self.board.command('pidof ' + program)
        await self.board.command('kill -9 ' + before)
        self.note('%s is killed with -9' % program, 'process %s' % before)
        await self.board.until('pidof %s | grep -qvx %s' % (program, before), STEP)
        await peer.wait_disconnected(STEP)
        self.note('the central is disconnected')
        # An advertisement outlasts its bluetoothd: who connects by it is dropped, or finds nothing, until the next one is there.
        end = self.board.seconds + BOOT
        while True:
            try:
                peer = await self.connect(phone, advertised_name)
                await peer.discover()
                await self.notified(peer, value)
                break
            except (RigError, ProtocolError, asyncio.TimeoutError, asyncio.CancelledError) as error:
                if asyncio.current_task().cancelling() or self.board.seconds > end:
                    raise
                self.note('it is not served yet', error_name(error))
                for connection in list(phone.device.connections.values()):
                    await connection.disconnect()
        self.expect('it is the same peripheral', await self.process(), peripheral)
        return peer

    async def misconfigure(self):
        """A configuration that is not understood ends the peripheral for good; it starts once that is mended."""
        file, script = '/etc/%s.conf' % self.name, '/etc/init.d/S60' + self.name
        await self.board.command('mkdir /tmp/upper /tmp/work && mount -t overlay overlay /etc'
                                 ' -o lowerdir=/etc,upperdir=/tmp/upper,workdir=/tmp/work')
        await self.board.command('echo nonsense > %s && %s restart' % (file, script))
        await self.board.until("logread | grep -q '%s: ended with status 78'" % self.name, STEP)
        await self.board.until("! ps -o comm | grep -q ^S60 && [ ! -e /run/%s.pid ]" % self.name, STEP)
        self.check('it is not started again of a configuration that it does not understand',
                   '' == await self.board.command('pidof %s || true' % self.name))
        await self.board.command('rm %s && %s start' % (file, script))
        await self.board.until('pidof ' + self.name, STEP)
        self.note('with the configuration mended it starts')
        await self.board.command(script + ' start')
        supervisors = await self.board.command('ps -o comm | grep -c ^S60')
        self.check('to start it once more starts nothing', supervisors == '1', supervisors)

    async def cut_power(self):
        seconds = self.board.seconds
        self.board.cut_power()
        print('ok   %7.2f s  the power is cut' % seconds, flush=True)

    async def end(self):
        await self.board.command('/etc/init.d/S60%s stop && ! pidof %s' % (self.name, self.name))
        self.note('the peripheral stops when it is told to')
        self.check('the board ends in order, with its disk let go of', await self.board.power_off(STEP))


async def heart_rate_sensor(scene, brief):
    async with await Central.open(scene.board.hci, PHONE) as phone:
        await scene.power_on('for the first time')
        peer = await scene.connect(phone, 'Pulse')
        await peer.discover()
        value = await peer.read(BATTERY_LEVEL)
        scene.check('the central reads the battery level', len(value) == 1 and value[0] <= 100, value[0])
        await scene.notified(peer, HEART_RATE)
        if brief:
            return
        await scene.examine()

        changed = await peer.subscribe(SERVICE_CHANGED, indicate=True)
        await scene.kill(peer, changed)
        await scene.notified(peer, HEART_RATE)
        scene.check('it was told no more often', not changed.drain())
        for program in ('dbus-daemon', 'btattach'):
            peer = await scene.kill_below(phone, peer, program, 'Pulse', HEART_RATE)
        await scene.misconfigure()
        await scene.end()


async def door_lock(scene, brief):
    async with await Central.open(scene.board.hci, PHONE) as phone, \
            await Central.open(scene.board.hci, OTHER_PHONE) as other, \
            await Central.open(scene.board.hci, NEW_PHONE) as new:
        await scene.power_on('for the first time')
        peer = await scene.connect(phone, 'Door')
        await peer.pair()
        scene.note('the central pairs')
        database = await peer.discover()
        changed = await peer.subscribe(SERVICE_CHANGED, indicate=True)
        scene.expect('the door is locked at first', await peer.read(LOCK), LOCKED)
        lock, audit = await peer.subscribe(LOCK), await peer.subscribe(AUDIT)
        await peer.write(LOCK, UNLOCKED)
        scene.expect('the central is notified of the lock', await lock.next(STEP), UNLOCKED)
        await scene.told(audit, 'unlocked by ' + PHONE)
        if brief:
            return
        await scene.examine()
        await scene.board.until("logread | grep -q 'door-lock: .*The door lock starts'", STEP)
        scene.note('the log has what the peripheral says')

        scene.expect_handles(await scene.kill(peer, changed), database)
        scene.expect('the door is as it was', await peer.read(LOCK), UNLOCKED)
        lock, audit = await peer.subscribe(LOCK), await peer.subscribe(AUDIT)
        await peer.write(LOCK, LOCKED)
        scene.expect('the central is notified of the lock', await lock.next(STEP), LOCKED)
        await scene.told(audit, 'locked by ' + PHONE)
        scene.check('it was told of the services no more often', not changed.drain())
        handles = {spec: await peer.handle(spec) for spec in (LOCK, AUDIT)}

        await peer.write(ADMIT, b'\x01')
        await peer.disconnect()
        scene.note('the central admits another one, and leaves, still subscribed')
        guest = await scene.connect(other, 'Door')
        await guest.pair()
        await guest.discover()
        await guest.write(LOCK, UNLOCKED)
        scene.note('another one pairs, and unlocks')
        await scene.board.until(scene.awaits('unlocked by ' + OTHER_PHONE), STEP)
        scene.note('what the first one has missed is preserved')
        await guest.write(ADMIT, b'\x01')
        await guest.disconnect()

        # A bond that bluetoothd has just written, and nothing has been written after it.
        guest = await scene.connect(new, 'Door')
        await guest.pair()
        # bluetoothd writes the key first; without the type of the address, written next, it would load it for another.
        info = '/var/lib/bluetooth/*/%s/info' % NEW_PHONE
        await scene.board.until('grep -q LongTermKey %s && grep -q AddressType %s' % (info, info), STEP)
        scene.note('a third one pairs')
        await scene.cut_power()
        await guest.wait_disconnected(STEP)
        await scene.power_on('again')
        peer = await scene.connect(phone, 'Door')
        scene.check('the bond is as it was', peer.encrypted)
        peer.services = database            # the central does not discover, but trusts what it knows
        scene.expect('the door is as it was, at the same handle', await peer.read(handles[LOCK]), UNLOCKED)
        audit = await peer.subscribe(handles[AUDIT])
        scene.expect('the central is told what it has missed', (await audit.next(STEP)).decode(), 'unlocked by ' + OTHER_PHONE)
        lock = await peer.subscribe(handles[LOCK])
        await peer.write(handles[LOCK], LOCKED)
        scene.expect('the central is notified of the lock', await lock.next(STEP), LOCKED)
        scene.expect('the central is told who did it', (await audit.next(STEP)).decode(), 'locked by ' + PHONE)
        scene.expect_handles(await peer.discover(), database)
        guest = await scene.connect(new, 'Door')
        scene.check('the newest bond is as it was', guest.encrypted)
        mended = await scene.board.command("dmesg | grep -c 'ubdb.*recovery complete' || true")
        scene.check('the disk was mended by its journal at this start', mended == '1')
        await scene.end()


async def another(scene, brief):
    """A peripheral of which nothing is known: that it starts, is found by whatever it advertises, and serves."""
    async with await Central.open(scene.board.hci, PHONE) as phone:
        await scene.power_on('for the first time')
        peer = await scene.connect(phone)
        database = await peer.discover()
        scene.note('the central discovers', ' '.join(s['uuid'] for s in database))
        await scene.end()


SCENES = {'heart-rate-sensor': heart_rate_sensor, 'door-lock': door_lock}


async def main(kernel, image, name, brief):
    board = await Board(kernel, image).open()
    scene = Scene(board, name)
    # A script in the background hears no interrupt of the terminal unless it listens.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, asyncio.current_task().cancel)
    try:
        acting = asyncio.ensure_future(SCENES.get(name, another)(scene, brief))
        await asyncio.wait({acting, board.ended}, timeout=600, return_when=asyncio.FIRST_COMPLETED)
        if not acting.done():
            acting.cancel()
            await asyncio.wait({acting})
            raise board.ended.exception() if board.ended.done() else BoardError('no end in 600 s')
        await acting
        print('ok   %s: all is as promised' % name, flush=True)
        return 0
    except Exception as error:
        words = str(error) if isinstance(error, (Failure, BoardError, RigError)) else error_name(error)
        print('FAIL %7.2f s  %s' % (board.seconds, words), flush=True)
        print(await board.last_words(), flush=True)
        return 1
    finally:
        await board.close()


if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if a != '--brief']
    sys.exit(asyncio.run(main(*arguments, brief='--brief' in sys.argv)))
