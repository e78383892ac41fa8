#!/usr/bin/env python3
"""Measures how long a central that scans a tenth of the time needs to find a peripheral.

    discovery_time.py COUNT PROGRAM [ARGUMENT...]

It runs inside the virtual machine (rig/run-in-vm). It starts PROGRAM, and then scans COUNT times until it hears the
adapter: for 512 ms in each 5.12 s, as Android does at low power. The clock is the central's.
"""

import asyncio
import os
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), 'rig'))
from central import Central  # noqa: E402

ADAPTER = '00:AA:01:00:00:42'
CTL = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'rig', 'ctl')


async def scan(central):
    found = asyncio.get_running_loop().create_future()

    def report(advertisement):
        if str(advertisement.address)[:17] == ADAPTER and not found.done():
            found.set_result(time.monotonic())

    central.device.host.on('advertising_report', report)
    start = time.monotonic()
    await central.device.start_scanning(active=False, scan_interval=5120, scan_window=512)
    try:
        return await asyncio.wait_for(found, 300) - start
    finally:
        await central.device.stop_scanning()
        central.device.host.remove_listener('advertising_report', report)


async def main(count, command):
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        async with await Central.open() as central:
            await central.find(address=ADAPTER, seconds=60)
            subprocess.run([CTL, 'pace', 'real'], check=True, stdout=subprocess.DEVNULL)
            await asyncio.sleep(2)
            words = subprocess.run([CTL, 'intervals'], check=True, capture_output=True, text=True).stdout.split()
            print('BlueZ %s, interval %g to %g ms' % (
                os.environ.get('BLUEZ_VERSION'), int(words[2]) * 0.625, int(words[3]) * 0.625), flush=True)
            times = []
            for _ in range(count):
                await asyncio.sleep(random.uniform(0, 1.3))
                times.append(await scan(central))
            times.sort()
            print('%d scans: median %.1f s, nine of ten within %.1f s, longest %.1f s' % (
                count, statistics.median(times), times[max(0, count * 9 // 10 - 1)], times[-1]))
    finally:
        program.terminate()
        program.wait(10)


asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
