#!/usr/bin/env python3
"""A scriptable BLE central for the rig: a library and a command line.

It is a complete Bluetooth host (Google's Bumble, from PyPI) on a virtual
controller of the rig's radio, so what it sees of the peripheral under test is
only what comes over the (virtual) air: advertising, ATT, SMP.

Library:

    async with await Central.open() as central:
        peer = await central.connect(service='180d')        # scan, then connect
        await peer.exchange_mtu(517)
        db = await peer.discover()                          # JSON-able
        value = await peer.read('2a38')
        sub = await peer.subscribe('2a37')
        print(await sub.next(5))
        await peer.pair()
        await peer.disconnect()

An attribute is named by a UUID ('2a37', '180d/2a37', '180d/2a37/2902', a second
instance '2a37@1') or by a handle ('#18', '#0x12', or an int).

Command line: central.py --help. Every command prints JSON on stdout; the exit
status is 0 when it worked, 1 when it did not (the error is JSON too).
"""

import argparse
import asyncio
import json
import logging
import os
import re
import struct
import subprocess
import sys
import time

from bumble import att, hci
from bumble.core import UUID, AdvertisingData, ProtocolError
from bumble.device import Device, DeviceConfiguration
from bumble.gatt_client import ServiceProxy
from bumble.host import Host
from bumble.keys import JsonKeyStore, MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

CCCD = UUID.from_16_bits(0x2902)
SECONDARY = UUID.from_16_bits(0x2801)
INCLUDE = UUID.from_16_bits(0x2802)

AD_NAMES = {
    0x01: 'flags', 0x02: 'uuids16_incomplete', 0x03: 'uuids16', 0x04: 'uuids32_incomplete',
    0x05: 'uuids32', 0x06: 'uuids128_incomplete', 0x07: 'uuids128', 0x08: 'short_name',
    0x09: 'name', 0x0A: 'tx_power', 0x14: 'solicit16', 0x15: 'solicit128',
    0x16: 'service_data16', 0x19: 'appearance', 0x20: 'service_data32',
    0x21: 'service_data128', 0xFF: 'manufacturer_data',
}
PROPERTIES = ['broadcast', 'read', 'write-without-response', 'write', 'notify',
              'indicate', 'authenticated-signed-writes', 'extended-properties']


class RigError(Exception):
    """Something that the script asked for did not happen."""


def uuid_str(uuid):
    """'2a37' for 16-bit UUIDs, the 36-character lower-case form for the others."""
    raw = bytes(uuid)[::-1].hex()
    if len(raw) == 32:
        if raw.endswith('00001000800000805f9b34fb') and raw.startswith('0000'):
            return raw[4:8]
        return '-'.join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
    return raw


def parse_ad(data):
    """Advertising data -> {'raw': hex, 'fields': [[type, hex]...], decoded names}."""
    out = {'raw': data.hex(), 'fields': []}
    i = 0
    while i < len(data) and data[i]:
        n, ad_type, value = data[i], data[i + 1] if i + 1 < len(data) else 0, data[i + 2:i + 1 + data[i]]
        i += 1 + n
        out['fields'].append([ad_type, value.hex()])
        name = AD_NAMES.get(ad_type, 'ad_%02x' % ad_type)
        if ad_type in (0x08, 0x09):
            out[name] = value.decode('utf-8', 'replace')
        elif ad_type in (0x02, 0x03, 0x14):
            out.setdefault(name, []).extend(
                '%04x' % v for (v,) in struct.iter_unpack('<H', value[:len(value) & ~1]))
        elif ad_type in (0x06, 0x07, 0x15):
            out.setdefault(name, []).extend(
                uuid_str(UUID.from_bytes(value[j:j + 16])) for j in range(0, len(value) - 15, 16))
        elif ad_type == 0x01:
            out[name] = value[0] if value else 0
        elif ad_type == 0x0A:
            out[name] = struct.unpack('<b', value)[0] if len(value) == 1 else value.hex()
        elif ad_type == 0x19 and len(value) == 2:
            out[name] = struct.unpack('<H', value)[0]
        elif ad_type == 0xFF and len(value) >= 2:
            out.setdefault(name, {})['%04x' % struct.unpack_from('<H', value)[0]] = value[2:].hex()
        elif ad_type == 0x16 and len(value) >= 2:
            out.setdefault(name, {})['%04x' % struct.unpack_from('<H', value)[0]] = value[2:].hex()
        elif ad_type == 0x21 and len(value) >= 16:
            out.setdefault(name, {})[uuid_str(UUID.from_bytes(value[:16]))] = value[16:].hex()
        else:
            out[name] = value.hex()
    return out


class Advertiser:
    """What was heard from one address: advertising data, and scan response data."""

    def __init__(self, address):
        self.address = address
        self.adv = b''
        self.rsp = b''
        self.connectable = False
        self.scannable = False
        self.legacy = None
        self.reports = 0
        self.first = self.last = time.monotonic()

    @property
    def json(self):
        merged = parse_ad(self.adv + self.rsp)
        return {
            'address': str(self.address).split('/')[0],
            'address_type': 'public' if self.address.is_public else 'random',
            'connectable': self.connectable, 'scannable': self.scannable,
            'legacy': self.legacy, 'reports': self.reports,
            'name': merged.get('name', merged.get('short_name')),
            'uuids': merged.get('uuids16', []) + merged.get('uuids16_incomplete', [])
            + merged.get('uuids128', []) + merged.get('uuids128_incomplete', []),
            'adv': parse_ad(self.adv), 'scan_response': parse_ad(self.rsp),
        }

    def matches(self, address=None, name=None, service=None):
        j = self.json
        if address and j['address'].lower() != address.lower():
            return False
        if name and j['name'] != name:
            return False
        if service and norm(service) not in j['uuids']:
            return False
        return True


def norm(uuid):
    return uuid_str(UUID(uuid)) if isinstance(uuid, str) else uuid_str(uuid)


_send_command = Host._send_command


async def _send_whole_command(host, command, response_timeout=None):
    """Sends a command and waits for its answer, also when whoever waits here is cancelled.

    Bumble's own gives its place to the next command then. The answer that is still on its way ends that next one, whose
    own answer lets a further one go beside it: an assertion fails in whichever comes third, wherever that happens to be.
    """
    # A controller that never answers must not hold up all that comes later.
    sent = asyncio.ensure_future(_send_command(host, command, response_timeout or 10.0))
    sent.add_done_callback(lambda sent: sent.cancelled() or sent.exception())
    return await asyncio.shield(sent)


Host._send_command = _send_whole_command


class Delegate(PairingDelegate):
    """Answers what a person would; records what was asked."""

    def __init__(self, io, passkey=None):
        super().__init__(io_capability=io)
        self.asked = []
        self.passkey = passkey
        self.shown = None

    async def accept(self):
        self.asked.append('accept')
        return True

    async def confirm(self, auto=False):
        self.asked.append('confirm')
        return True

    async def compare_numbers(self, number, digits):
        self.asked.append('compare %06d' % number)
        return True

    async def get_number(self):
        self.asked.append('get_number')
        value = self.passkey
        if callable(value):
            value = value()
            if asyncio.iscoroutine(value):
                value = await value
        return value

    async def display_number(self, number, digits):
        self.asked.append('display %06d' % number)
        self.shown = number


IO = {
    'none': PairingDelegate.NO_OUTPUT_NO_INPUT,
    'display': PairingDelegate.DISPLAY_OUTPUT_ONLY,
    'yesno': PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    'keyboard': PairingDelegate.KEYBOARD_INPUT_ONLY,
    'keyboard-display': PairingDelegate.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
}


class Subscription:
    """The notifications (or indications) of one handle, in order of arrival."""

    def __init__(self, peer, handle, cccd, indicate):
        self.peer, self.handle, self.cccd, self.indicate = peer, handle, cccd, indicate
        self.queue = asyncio.Queue()
        self.count = 0
        self.octets = 0

    def _got(self, value):
        self.count += 1
        self.octets += len(value)
        self.queue.put_nowait((time.monotonic(), value))

    async def next(self, timeout=10.0):
        """The next value; RigError when none comes in time."""
        try:
            return (await asyncio.wait_for(self.queue.get(), timeout))[1]
        except (TimeoutError, asyncio.TimeoutError):
            raise RigError('no %s of handle 0x%04x in %g s (%d before)' % (
                'indication' if self.indicate else 'notification',
                self.handle, timeout, self.count)) from None

    async def take(self, n, timeout=10.0):
        end = time.monotonic() + timeout
        return [await self.next(max(0.001, end - time.monotonic())) for _ in range(n)]

    def drain(self):
        out = []
        while not self.queue.empty():
            out.append(self.queue.get_nowait()[1])
        return out


class Peer:
    """One connection to a peripheral."""

    def __init__(self, central, connection):
        self.central = central
        self.connection = connection
        self.client = connection.gatt_client
        self.services = None
        self.subscriptions = {}
        self.stray = []                 # (handle, value) that no subscription wanted
        self.confirm_indications = True  # False: leave indications unconfirmed
        self.disconnected = asyncio.get_running_loop().create_future()
        self.disconnect_reason = None
        self.encryption_changes = []
        connection.on('disconnection', self._on_disconnection)
        self.security_requests = 0
        self.security_requested = asyncio.Event()
        connection.on('security_request', self._on_security_request)
        connection.on('connection_encryption_change',
                      lambda: self.encryption_changes.append(connection.is_encrypted))
        # Every value, subscribed or not, and the choice not to confirm.
        self.client.on_att_handle_value_notification = \
            lambda pdu: self._value(pdu.attribute_handle, pdu.attribute_value, False)
        self.client.on_att_handle_value_indication = self._indication

    def _on_disconnection(self, reason):
        self.disconnect_reason = reason
        if not self.disconnected.done():
            self.disconnected.set_result(reason)

    def _on_security_request(self, *_):
        """bluetoothd asks for this when the central is bonded, and serves nothing before."""
        self.security_requests += 1
        self.security_requested.set()
        if self.central.answer_security_requests and not self.encrypted:
            self._securing = asyncio.ensure_future(self._secure())

    async def wait_security_request(self, seconds):
        """Waits until the peripheral has asked for encryption; for so long at most, since it need not."""
        try:
            await asyncio.wait_for(self.security_requested.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    async def _secure(self):
        try:
            await (self.encrypt() if await self.central.is_bonded(self) else self.pair())
        except Exception as error:
            logging.warning('security request: %s', error_name(error))

    def _value(self, handle, value, indicate):
        sub = self.subscriptions.get(handle)
        if sub is None or sub.indicate != indicate:
            self.stray.append((handle, value))
        else:
            sub._got(value)

    def _indication(self, pdu):
        self._value(pdu.attribute_handle, pdu.attribute_value, True)
        if self.confirm_indications:
            self.client.send_confirmation(att.ATT_Handle_Value_Confirmation())

    # ------------------------------------------------------------ the link
    @property
    def mtu(self):
        return self.client.mtu

    @property
    def encrypted(self):
        return bool(self.connection.encryption)

    async def exchange_mtu(self, mtu=517):
        return await self.client.request_mtu(mtu)

    async def pair(self, timeout=20.0):
        await asyncio.wait_for(self.connection.pair(), timeout)
        return self.encrypted

    async def encrypt_when_asked(self):
        """Encrypts once bluetoothd has asked for it, or at the latest after 3 s: it may have no keys.

        bluetoothd reads the security level of a bonded central's connection and then raises it. When the link
        gets encrypted between the two, the kernel refuses the second, and bluetoothd gives the connection up:
        "bt_io_set: setsockopt(BT_SECURITY): Invalid argument" (device_attach_att, in all versions).
        """
        await self.wait_security_request(3)
        if not self.encrypted:
            await self.encrypt()

    async def encrypt(self, timeout=10.0):
        """Encrypts with the keys of an earlier pairing."""
        await asyncio.wait_for(self.connection.encrypt(), timeout)
        return self.encrypted

    async def disconnect(self, reason=0x13, timeout=10.0):
        if not self.disconnected.done():
            await asyncio.wait_for(self.connection.disconnect(reason), timeout)
        await self.wait_disconnected(timeout)

    async def wait_disconnected(self, timeout=10.0):
        try:
            return await asyncio.wait_for(asyncio.shield(self.disconnected), timeout)
        except (TimeoutError, asyncio.TimeoutError):
            raise RigError('still connected after %g s' % timeout) from None

    # ------------------------------------------------------------ discovery
    async def discover(self, values=False):
        """All services, included services, characteristics and descriptors.

        Returns the database as plain data; with values=True it reads what can be read.
        """
        self.services = []
        primary = await self.client.discover_services()
        found = primary + await self.discover_secondary_services()
        for service in sorted(found, key=lambda s: s.handle):
            included = await self.discover_included_services(service)
            chars = []
            found = await self.client.discover_characteristics([], service)
            for c in found:
                # Descriptors end where the next characteristic begins.
                later = [o.handle - 2 for o in found if o.handle > c.handle]
                c.end_group_handle = min(later + [service.end_group_handle])
                descriptors = await self.client.discover_descriptors(c)
                chars.append({
                    'uuid': norm(c.uuid), 'handle': c.handle,
                    'properties': [p for i, p in enumerate(PROPERTIES) if int(c.properties) >> i & 1],
                    'descriptors': [{'uuid': norm(d.type), 'handle': d.handle} for d in descriptors],
                })
            self.services.append({
                'uuid': norm(service.uuid), 'handle': service.handle,
                'end': service.end_group_handle, 'primary': service in primary,
                'includes': [uuid for _, _, _, uuid in included], 'included': included,
                'characteristics': chars,
            })
        if values:
            for s in self.services:
                for c in s['characteristics']:
                    if 'read' in c['properties']:
                        c['value'] = await self._value_or_error(c['handle'])
                    for d in c['descriptors']:
                        d['value'] = await self._value_or_error(d['handle'])
        return self.services

    async def _until_not_found(self, first, last, request):
        """The attributes that the requests give, one request after the other, up to the handle `last`."""
        while first <= last:
            try:
                attributes = (await self.request(request(first))).attributes
            except att.ATT_Error as error:
                if error.error_code == att.ErrorCode.ATTRIBUTE_NOT_FOUND:
                    return
                raise
            for attribute in attributes:
                yield attribute
            end = attributes[-1][1] if len(attributes[-1]) == 3 else attributes[-1][0]
            first = max(end, first) + 1

    async def discover_secondary_services(self):
        """The secondary services, which Bumble does not look for."""
        return [ServiceProxy(self.client, handle, end, UUID.from_bytes(uuid), primary=False)
                async for handle, end, uuid in self._until_not_found(
                    1, 0xFFFF, lambda first: att.ATT_Read_By_Group_Type_Request(
                        starting_handle=first, ending_handle=0xFFFF, attribute_group_type=SECONDARY))]

    async def discover_included_services(self, service):
        """(handle of the include, first and last handle of the included service, its UUID) of each.

        Bumble's own stumbles over UUIDs of 128 bits, which the answer leaves out.
        """
        out = []
        async for handle, value in self._until_not_found(
                service.handle, service.end_group_handle, lambda first: att.ATT_Read_By_Type_Request(
                    starting_handle=first, ending_handle=service.end_group_handle, attribute_type=INCLUDE)):
            start, end = struct.unpack_from('<HH', value)
            uuid = value[4:] or await self.read_once(start)
            out.append((handle, start, end, norm(UUID.from_bytes(uuid))))
        return out

    async def _value_or_error(self, handle):
        try:
            return (await self.read(handle)).hex()
        except att.ATT_Error as error:
            return {'error': error_name(error)}

    def _characteristic(self, spec):
        parts = spec.split('/')
        index = 0
        if '@' in parts[-1]:
            parts[-1], n = parts[-1].split('@')
            index = int(n)
        parts = [norm(p) for p in parts]
        hits = []
        for s in self.services or []:
            for c in s['characteristics']:
                if len(parts) == 1 and c['uuid'] == parts[0]:
                    hits.append((c, None))
                if len(parts) >= 2 and s['uuid'] == parts[0] and c['uuid'] == parts[1]:
                    if len(parts) == 2:
                        hits.append((c, None))
                    else:
                        hits.extend((c, d) for d in c['descriptors'] if d['uuid'] == parts[2])
        if len(hits) <= index:
            raise RigError('no attribute %s' % spec)
        return hits[index]

    async def handle(self, spec):
        if isinstance(spec, int):
            return spec
        if spec.startswith('#'):
            return int(spec[1:], 0)
        if self.services is None:
            await self.discover()
        c, d = self._characteristic(spec)
        return d['handle'] if d else c['handle']

    # ------------------------------------------------------------ ATT
    async def request(self, pdu):
        """Sends any ATT request; gives its response; an error response is raised."""
        response = await self.client.send_request(pdu)
        if response.op_code == att.Opcode.ATT_ERROR_RESPONSE:
            raise att.ATT_Error(error_code=response.error_code, message=str(response))
        return response

    async def read(self, spec):
        """Read, and Read Blob for the rest when the value fills the MTU."""
        return await self.client.read_value(await self.handle(spec))

    async def read_once(self, spec):
        """A single Read request."""
        r = await self.request(att.ATT_Read_Request(attribute_handle=await self.handle(spec)))
        return r.attribute_value

    async def read_blob(self, spec, offset):
        r = await self.request(att.ATT_Read_Blob_Request(
            attribute_handle=await self.handle(spec), value_offset=offset))
        return r.part_attribute_value

    async def write(self, spec, value):
        """Write request; the long (prepared) form when the value exceeds the MTU."""
        await self.client.write_value(await self.handle(spec), value, with_response=True)

    async def write_command(self, spec, value):
        """Write Without Response."""
        await self.client.write_value(await self.handle(spec), value, with_response=False)

    async def prepare(self, spec, offset, part):
        r = await self.request(att.ATT_Prepare_Write_Request(
            attribute_handle=await self.handle(spec), value_offset=offset,
            part_attribute_value=part))
        return r.value_offset, r.part_attribute_value

    async def execute(self, commit=True):
        await self.request(att.ATT_Execute_Write_Request(flags=1 if commit else 0))

    async def cccd(self, spec):
        handle = await self.handle(spec)
        if self.services is None:
            await self.discover()
        for s in self.services:
            for c in s['characteristics']:
                if c['handle'] == handle:
                    for d in c['descriptors']:
                        if d['uuid'] == '2902':
                            return handle, d['handle']
        raise RigError('no client characteristic configuration descriptor for %s' % (spec,))

    async def subscribe(self, spec, indicate=False):
        handle, cccd = await self.cccd(spec)
        sub = self.subscriptions[handle] = Subscription(self, handle, cccd, indicate)
        try:
            await self.request(att.ATT_Write_Request(
                attribute_handle=cccd, attribute_value=b'\x02\x00' if indicate else b'\x01\x00'))
        except Exception:
            del self.subscriptions[handle]
            raise
        return sub

    async def unsubscribe(self, spec):
        handle, cccd = await self.cccd(spec)
        await self.request(att.ATT_Write_Request(attribute_handle=cccd, attribute_value=b'\0\0'))
        self.subscriptions.pop(handle, None)

    async def throughput(self, spec, seconds=5.0, indicate=False):
        """Subscribes and counts for `seconds` from the first value on."""
        sub = await self.subscribe(spec, indicate)
        await sub.next(15.0)
        start, n0, b0 = time.monotonic(), sub.count, sub.octets
        await asyncio.sleep(seconds)
        took = time.monotonic() - start
        n, b = sub.count - n0, sub.octets - b0
        gaps = sub.drain()
        if not self.disconnected.done():
            await self.unsubscribe(sub.handle)
        return {'seconds': round(took, 3), 'count': n, 'octets': b,
                'per_second': round(n / took, 1), 'octets_per_second': round(b / took, 1),
                'mtu': self.mtu, 'received': len(gaps)}


class Central:
    """A BLE host on a virtual controller of its own."""

    def __init__(self, transport, device, delegate):
        self.answer_security_requests = True  # as phones do
        self.transport, self.device, self.delegate = transport, device, delegate
        self.heard = {}
        self._parts = {}
        self._wanted = []
        device.host.on('advertising_report', self._on_report)

    @classmethod
    async def open(cls, radio=None, address='F0:00:00:00:00:01', name='rig central', io='none',
                   sc=True, mitm=False, bonding=True, keystore=None, passkey=None, max_mtu=517, privacy=False, timeout=15.0):
        """radio: a Bumble transport name; default: $RIG_HCI, set inside the VM.

        address: this central's static random address; give each central its own.
        max_mtu: what it answers when bluetoothd asks for an MTU exchange (it always does).
        privacy: it changes its (resolvable) address, as phones do.
        keystore: a JSON file that keeps the bonds over several runs; default: memory.
        """
        radio = radio or os.environ.get('RIG_HCI', 'unix:/run/rig/hci')
        transport = await asyncio.wait_for(open_transport(radio), timeout)
        config = DeviceConfiguration(
            name=name, address=hci.Address(address, hci.Address.RANDOM_DEVICE_ADDRESS),
            irk=os.urandom(16), le_simultaneous_enabled=False, le_privacy_enabled=privacy)
        device = Device.from_config_with_hci(config, transport.source, transport.sink)
        delegate = Delegate(IO[io], passkey)
        device.gatt_server.max_mtu = max_mtu
        device.pairing_config_factory = lambda connection: PairingConfig(
            sc=sc, mitm=mitm, bonding=bonding, delegate=delegate,
            identity_address_type=PairingConfig.AddressType.RANDOM)
        await asyncio.wait_for(device.power_on(), timeout)
        device.keystore = JsonKeyStore('rig', keystore) if keystore else MemoryKeyStore()
        return cls(transport, device, delegate)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def close(self):
        for connection in list(self.device.connections.values()):
            try:
                await asyncio.wait_for(connection.disconnect(), 3)
            except Exception:  # the link may be gone already
                pass
        try:
            await asyncio.wait_for(self.transport.close(), 3)
        except Exception:
            pass

    def _whole(self, report):
        """The data of an extended report with that of the reports before it; None while more is to come."""
        key = str(report.address), bool(report.event_type & 0x08)
        data = self._parts.pop(key, b'') + report.data
        if report.event_type >> 5 & 3 != 1:
            return data
        self._parts[key] = data
        return None

    def _on_report(self, report):
        adv = self.heard.setdefault(str(report.address), Advertiser(report.address))
        adv.reports += 1
        adv.last = time.monotonic()
        kind = report.event_type
        if isinstance(report, hci.HCI_LE_Advertising_Report_Event.Report):
            adv.legacy = True
            if kind == 4:
                adv.rsp = report.data
            else:
                adv.adv = report.data
                adv.connectable, adv.scannable = kind in (0, 1), kind in (0, 2)
        else:
            adv.legacy = bool(kind & 0x10)
            data = self._whole(report)
            if data is None:
                return
            if kind & 0x08:
                adv.rsp = data
            else:
                adv.adv = data
                adv.connectable, adv.scannable = bool(kind & 1), bool(kind & 2)
        for future in list(self._wanted):
            if not future.done():
                future.set_result(None)

    async def scan(self, seconds=3.0, until=None, active=True):
        """Listens; ends early when until(advertiser) is true. Gives what was heard."""
        self.heard = {}
        await self.device.start_scanning(active=active, filter_duplicates=False)
        end = time.monotonic() + seconds
        try:
            while (left := end - time.monotonic()) > 0:
                future = asyncio.get_running_loop().create_future()
                self._wanted.append(future)
                try:
                    await asyncio.wait_for(future, left)
                except (TimeoutError, asyncio.TimeoutError):
                    break
                finally:
                    self._wanted.remove(future)
                if until and any(until(a) for a in self.heard.values()):
                    break
        finally:
            await self.device.stop_scanning()
        return list(self.heard.values())

    async def find(self, address=None, name=None, service=None, seconds=10.0, connectable=True):
        """The first advertiser that matches all that is given (a scan response counts)."""
        def until(a):
            return (a.connectable or not connectable) and a.matches(address, name, service)
        for a in await self.scan(seconds, until):
            if until(a):
                return a
        raise RigError('not heard in %g s: %s; heard: %s' % (
            seconds, address or name or service or 'a connectable advertiser',
            json.dumps([a.json for a in self.heard.values()])))

    async def connect(self, address=None, name=None, service=None, seconds=10.0, encrypt=True):
        """Scans, connects and, when bonded, encrypts when asked and before anything else.

        (The kernel drops the ATT requests of a bonded central that come before.)
        """
        advertiser = await self.find(address, name, service, seconds)
        connection = await asyncio.wait_for(
            self.device.connect(advertiser.address, own_address_type=hci.OwnAddressType.RANDOM,
                                timeout=seconds), seconds + 5)
        peer = Peer(self, connection)
        peer.advertiser = advertiser
        if encrypt and await self.is_bonded(peer):
            await peer.encrypt_when_asked()
        return peer

    async def is_bonded(self, peer):
        """Whether there are keys of an earlier pairing with it."""
        return await self.device.keystore.get(str(peer.connection.peer_address)) is not None


class Process:
    """A program beside the test (the peripheral, an agent); its output is kept."""

    def __init__(self, *argv, env=None, log=None):
        self.path = log or '/run/rig/log/%s.%d.log' % (os.path.basename(argv[0]), time.monotonic_ns())
        self.seen = 0
        with open(self.path, 'wb') as f:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f,
                                            stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})

    @property
    def text(self):
        with open(self.path, errors='replace') as f:
            return f.read()

    def new(self):
        """The lines since the last new()."""
        lines = self.text.splitlines()
        out, self.seen = lines[self.seen:], len(lines)
        return out

    def calls(self):
        """new(), for a program that logs JSON lines."""
        return [json.loads(x) for x in self.new() if x.startswith('{')]

    async def wait_for(self, pattern, timeout=10.0):
        end = time.monotonic() + timeout
        while not (m := re.search(pattern, self.text)):
            if self.process.poll() is not None:
                raise RigError('%s ended with %d: %s' % (self.process.args[0], self.process.returncode,
                                                         self.text[-2000:]))
            if time.monotonic() > end:
                raise RigError('no /%s/ in %g s from %s: %s' % (pattern, timeout, self.process.args[0],
                                                                self.text[-2000:]))
            await asyncio.sleep(0.02)
        return m

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, timeout=5.0):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


async def ctl(*order, timeout=30.0):
    """An order for the rig (see the script ctl): 'unplug', 'kill-bluetoothd'..."""
    p = await asyncio.create_subprocess_exec(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ctl'), *order,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    out = (await asyncio.wait_for(p.communicate(), timeout))[0].decode().strip()
    if p.returncode:
        raise RigError('ctl %s: %s' % (' '.join(order), out))
    return out


def error_name(error):
    if isinstance(error, att.ATT_Error):
        try:
            return att.ErrorCode(error.error_code).name
        except ValueError:
            return 'ATT_ERROR_0x%02x' % error.error_code
    return '%s: %s' % (type(error).__name__, error)


# ---------------------------------------------------------------- command line
def value_of(text):
    return text[5:].encode() if text.startswith('text:') else bytes.fromhex(text)


async def command(a):
    async with await Central.open(a.radio, a.address, io=a.io, keystore=a.keystore,
                                  mitm=a.mitm, sc=not a.legacy_pairing) as central:
        if a.command == 'scan':
            return [x.json for x in await central.scan(a.seconds)]
        peer = await central.connect(a.peer, a.name, a.service, a.wait)
        out = {}
        if a.mtu:
            out['mtu'] = await peer.exchange_mtu(a.mtu)
        if a.pair:
            out['encrypted'] = await peer.pair()
        if a.command == 'dump':
            out['services'] = await peer.discover(values=a.values)
        elif a.command == 'read':
            out['value'] = (await peer.read(a.attribute)).hex()
        elif a.command == 'write':
            await (peer.write_command if a.no_response else peer.write)(a.attribute, value_of(a.value))
        elif a.command == 'subscribe':
            sub = await peer.subscribe(a.attribute, a.indicate)
            out['values'] = [v.hex() for v in await sub.take(a.count, a.seconds)]
            await peer.unsubscribe(a.attribute)
        elif a.command == 'pair':
            out['encrypted'] = await peer.pair()
            out['asked'] = central.delegate.asked
        elif a.command == 'throughput':
            out.update(await peer.throughput(a.attribute, a.seconds, a.indicate))
        await peer.disconnect()
        return out


def main():
    p = argparse.ArgumentParser(description='a scriptable BLE central (inside the rig)')
    p.add_argument('--radio', help='Bumble transport; default $RIG_HCI')
    p.add_argument('--address', default='F0:00:00:00:00:01', help="the central's own address")
    p.add_argument('--io', default='none', choices=sorted(IO))
    p.add_argument('--mitm', action='store_true')
    p.add_argument('--legacy-pairing', action='store_true', help='no LE Secure Connections')
    p.add_argument('--keystore', help='JSON file that keeps bonds')
    p.add_argument('--timeout', type=float, default=60.0)
    p.add_argument('--debug', action='store_true')
    q = argparse.ArgumentParser(add_help=False)
    q.add_argument('--peer', help="the peripheral's address")
    q.add_argument('--name', help="the peripheral's advertised name")
    q.add_argument('--service', help='a UUID that the peripheral advertises')
    q.add_argument('--wait', type=float, default=10.0, help='seconds to look for it')
    q.add_argument('--mtu', type=int, help='exchange this MTU first')
    q.add_argument('--pair', action='store_true', help='pair first')
    sub = p.add_subparsers(dest='command', required=True)
    s = sub.add_parser('scan')
    s.add_argument('--seconds', type=float, default=3.0)
    s = sub.add_parser('dump', parents=[q])
    s.add_argument('--values', action='store_true')
    s = sub.add_parser('read', parents=[q])
    s.add_argument('attribute')
    s = sub.add_parser('write', parents=[q])
    s.add_argument('attribute')
    s.add_argument('value', help='hex, or text:...')
    s.add_argument('--no-response', action='store_true')
    for name in ('subscribe', 'throughput'):
        s = sub.add_parser(name, parents=[q])
        s.add_argument('attribute')
        s.add_argument('--indicate', action='store_true')
        s.add_argument('--seconds', type=float, default=10.0 if name == 'subscribe' else 5.0)
        if name == 'subscribe':
            s.add_argument('--count', type=int, default=1)
    sub.add_parser('pair', parents=[q])
    a = p.parse_args()
    logging.basicConfig(level=logging.DEBUG if a.debug else logging.ERROR, stream=sys.stderr)

    async def bounded():
        return await asyncio.wait_for(command(a), a.timeout)
    try:
        print(json.dumps(asyncio.run(bounded()), indent=1))
    except (RigError, ProtocolError, TimeoutError, asyncio.TimeoutError,
            asyncio.CancelledError, OSError) as error:
        print(json.dumps({'error': error_name(error)}))
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
