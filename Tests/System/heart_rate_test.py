#!/usr/bin/env python3
"""The system test of the example heart-rate-sensor: its radio side and its command line.

    rig/run-in-vm --timeout 400 -- python3 heart_rate_test.py PATH-OF-heart-rate-sensor [PART...]

Runs inside the rig, with bluetoothd up. What is checked is seen by an independent host over the
(virtual) air: nothing is asked of the program or of D-Bus. Prints a line for each check and ends
with the counts; the exit status is 0 when all passed.
"""

import asyncio
import os
import signal
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rig'))
from bumble import att  # noqa: E402
from bumble.profiles.heart_rate_service import HeartRateService  # noqa: E402
from central import Central, RigError, ctl  # noqa: E402
from checks import Program, check, run_parts  # noqa: E402

NAME = 'Pulse'
CHEST = 1
# In the warnings about the malformed writes of this test.
REFUSED_WRITE = 'A write was refused because its bytes are no value of the declared type'
# In a warning, because bluetoothd publishes a Device Information service, too.
DEVICE_INFORMATION = ' warning Pulse: [PeripheralBlueZ] service 180a: '
# The declared database: service -> characteristic -> (properties, descriptors).
DATABASE = {
    '180d': {'2a37': ({'notify'}, ['2902']), '2a38': ({'read'}, []), '2a39': ({'write'}, [])},
    '180f': {'2a19': ({'read', 'notify'}, ['2902'])},
    '180a': {'2a29': ({'read'}, []), '2a24': ({'read'}, []), '2a26': ({'read'}, [])},
}
MEASUREMENTS = 10
def own_services(services):
    """Without those of bluetoothd: GAP, GATT, and the PnP ID that it serves as Device Information."""
    return [s for s in services if s['uuid'] not in ('1800', '1801') and not (
        s['uuid'] == '180a' and [c['uuid'] for c in s['characteristics']] == ['2a50'])]


def described(services):
    return {s['uuid']: {c['uuid']: (set(c['properties']), [d['uuid'] for d in c['descriptors']])
                        for c in s['characteristics']} for s in services}


async def att_error(coroutine):
    """The code of the ATT error that the peripheral answers with; None without one."""
    try:
        await coroutine
    except att.ATT_Error as error:
        return error.error_code
    return None


async def advertised(central, seconds=5.0):
    """What is on the air with the service, or None after the time."""
    try:
        return await central.find(service='180d', seconds=seconds)
    except RigError:
        return None


async def receive(subscription, count, seconds=60.0):
    """[(time of arrival, measurement)]: fewer when no more come."""
    got = []
    end = time.monotonic() + seconds
    while len(got) < count:
        try:
            at, value = await asyncio.wait_for(subscription.queue.get(), end - time.monotonic())
        except asyncio.TimeoutError:
            break
        got.append((at, HeartRateService.HeartRateMeasurement.from_bytes(value)))
    return got


def energies(measurements):
    return [m.energy_expended for _, m in measurements if m.energy_expended is not None]


# ------------------------------------------------------------------------ on the air
async def check_reads(peer):
    location = await peer.read('2a38')
    check('body sensor location: chest', location == bytes([CHEST]), location.hex())
    level = await peer.read('2a19')
    check('battery level: a percentage', len(level) == 1 and level[0] <= 100, level.hex())
    for uuid in DATABASE['180a']:
        try:
            text = (await peer.read('180a/' + uuid)).decode()
        except (RigError, UnicodeDecodeError, att.ATT_Error) as error:
            check('device information %s' % uuid, False, error)
            continue
        check('device information %s: a text' % uuid, text.strip() and text.isprintable(), text)
    check('reading the measurement is not permitted, or gives nothing',
          await att_error(peer.read_once('180d/2a37')) is not None or await peer.read_once('180d/2a37') == b'')


async def check_measurements(peer):
    subscription = await peer.subscribe('2a37')
    got = await receive(subscription, MEASUREMENTS)
    if not check('at least %d measurements' % MEASUREMENTS, len(got) >= MEASUREMENTS, len(got)):
        return
    gap = statistics.median(b[0] - a[0] for a, b in zip(got, got[1:]))
    check('about one a second (median)', 0.7 <= gap <= 1.4, '%.2f s' % gap)
    rates = [m.heart_rate for _, m in got]
    check('a plausible heart', all(30 <= r <= 220 for r in rates), rates)
    intervals = [x for _, m in got for x in m.rr_intervals or ()]
    check('RR intervals', len(intervals) >= MEASUREMENTS / 2 and all(60 / 220 <= x <= 60 / 30 for x in intervals),
          ' '.join('%.3f' % x for x in intervals))
    rising = energies(got)
    check('energy expended', len(rising) > 0, rising)
    check('energy expended does not fall', rising == sorted(rising), rising)

    # The reset can be seen only when there is something to reset.
    for _ in range(60):
        if rising and rising[-1] >= 2:
            break
        rising += energies(await receive(subscription, 1, 10))
    check('energy expended grows', rising and rising[-1] >= 2, rising)
    check('control point 01 is accepted', await att_error(peer.write('2a39', b'\1')) is None)
    subscription.drain()
    after = energies(await receive(subscription, 3, 15))
    check('energy expended is reset', after and after[0] <= 1, after)
    for value in (b'\2', b'\0'):
        code = await att_error(peer.write('2a39', value))
        check('control point %s is refused with 0x80' % value.hex(), code == 0x80, code)
    for value in (b'\1\1', b''):
        code = await att_error(peer.write('2a39', value))
        check('control point of %d bytes is refused' % len(value), code in (0x80, 0x0D), code)
    check('measurements go on', len(await receive(subscription, 2, 10)) == 2)


async def check_second_connection(central):
    peer = await central.connect(service='180d', seconds=20)
    services = own_services(await peer.discover())
    check('reconnected: the same database', described(services) == DATABASE)
    check('no measurement before subscribing', not peer.stray, peer.stray)
    subscription = await peer.subscribe('2a37')
    check('subscribed again: measurements', len(await receive(subscription, 2, 10)) == 2)
    await peer.unsubscribe('2a37')
    peer.stray.clear()
    await asyncio.sleep(3)
    check('unsubscribed: no measurement in three seconds', not peer.stray, peer.stray)
    return peer


async def on_the_air(path):
    program = await Program.start(path, '--adapter', 'hci0', '--name', NAME, '--duration', '180s')
    async with await Central.open() as central:
        advertiser = await advertised(central, 30)
        if not check('advertises the service 180d', advertiser):
            status, out, err = await program.end(signal.SIGTERM)
            print('status %s\n%s%s' % (status, out, err))
            return
        seen = advertiser.json
        check('connectable, as %s' % NAME, seen['connectable'] and seen['name'] == NAME, seen['name'])
        check('in legacy packets of at most 31 bytes', seen['legacy'] and max(len(advertiser.adv), len(advertiser.rsp)) <= 31,
              '%s %s' % (seen['adv']['raw'], seen['scan_response']['raw']))
        check('found by its name', (await central.find(name=NAME, seconds=10)).json['address'] == seen['address'])
        peer = await central.connect(service='180d', seconds=20)
        services = own_services(await peer.discover())
        check('exactly the declared services', sorted(s['uuid'] for s in services) == sorted(DATABASE),
              [s['uuid'] for s in services])
        found = described(services)
        for uuid, characteristics in DATABASE.items():
            check('exactly the declared characteristics of %s' % uuid, found.get(uuid) == characteristics, found.get(uuid))
        if found == DATABASE:
            await check_reads(peer)
            await check_measurements(peer)
        await peer.disconnect()
        peer = await check_second_connection(central)

        began = time.monotonic()
        status, out, err = await program.end(signal.SIGTERM)
        check('SIGTERM: exit 0', status == 0, 'status %s after %.1f s' % (status, time.monotonic() - began))
        check('tells on its standard output what it does', out.strip() != '', out.strip().splitlines()[:1])
        # With an untouched main.conf.
        log = [line for line in err.splitlines() if DEVICE_INFORMATION not in line and REFUSED_WRITE not in line]
        check('only what main.conf does to it on the standard error', 1 <= len(log) <= 5 and all(
            'notice' in line and '/etc/bluetooth/main.conf: ' in line for line in log), err[:2000])
        check('its services are gone', own_services(await peer.discover()) == [])
        await peer.disconnect()
        check('its advertisement is gone', await advertised(central, 2) is None)


# ------------------------------------------------------------------------ the command line
async def ends(path):
    async with await Central.open() as central:
        program = await Program.start(path, '--adapter', 'hci0', '--name', NAME, '--duration', '60s')
        check('started again: on the air', await advertised(central, 30))
        status, _, err = await program.end(signal.SIGINT)
        check('SIGINT: exit 0', status == 0, 'status %s %s' % (status, err[:500]))
        check('SIGINT: its advertisement is gone', await advertised(central, 2) is None)
        program = await Program.start(path, '--adapter', 'hci0', '--name', NAME, '--duration', '3s')
        status, _, err = await program.end(seconds=30)
        check('--duration 3s: exit 0 by itself', status == 0, 'status %s %s' % (status, err[:500]))


async def refused(what, path, *arguments, **environment):
    """The program cannot work: one sentence on stderr, the next steps, exit 1."""
    program = await Program.start(path, '--name', NAME, '--duration', '20s', *arguments, **environment)
    status, _, err = await program.end(seconds=40)
    check('%s: exit 1' % what, status == 1, 'status %s' % status)
    lines = [line for line in err.strip().splitlines() if DEVICE_INFORMATION not in line]
    check('%s: one sentence that says so' % what, len(lines) == 2 and lines[0].rstrip().endswith('.'), err.strip()[:500])
    check('%s: the next steps' % what, '--emulated' in lines[-1] and 'peripheral-doctor' in lines[-1], err.strip()[:500])


async def refusals(path):
    await refused('unknown adapter', path, '--adapter', 'hci7')
    await ctl('unplug')
    await refused('no adapter', path)
    await refused('adapter hci0 is not there', path, '--adapter', 'hci0')
    await ctl('stop-bluetoothd')
    await refused('no bluetoothd', path)
    await refused('no system bus', path, DBUS_SYSTEM_BUS_ADDRESS='unix:path=/run/rig/no-such-bus')


PARTS = {   # each with the seconds that it may take
    'on_the_air': (on_the_air, 200),
    'ends': (ends, 90),
    'refusals': (refusals, 100),
}


if __name__ == '__main__':
    sys.exit(asyncio.run(run_parts(PARTS, sys.argv[2:], os.path.abspath(sys.argv[1]))))
