#!/usr/bin/env python3
"""The rig's air: virtual BLE controllers that hear one another.

One controller is attached to the kernel through /dev/vhci: it becomes hci0, the
adapter that bluetoothd drives. Every connection to the Unix socket /run/rig/hci
gets a further controller on the same air (speaking HCI, H4 framing): centrals
attach there. /run/rig/ctl takes one-line orders (see `orders` below).

Built on Bumble's software controller, with what that lacks for this use: scan
responses, non-connectable advertising, several links at once, loss of a peer,
reset, and a limit of the link's speed. Without the limit a central can send faster
than any real one, and the kernel then drops what bluetoothd has not read yet
(500 writes without response in a burst: 10 to 20 % lost, even a request now and then).
"""

import argparse
import asyncio
import collections
import dataclasses
import logging
import os
import random
import struct
import sys
import time

from bumble import hci, link, ll
from bumble.controller import AdvertisingSet, Connection, Controller, LegacyAdvertiser
from bumble.core import PhysicalTransport

log = logging.getLogger('radio')
OK = hci.HCI_ErrorCode.SUCCESS
LOST = hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR


@dataclasses.dataclass
class Adv(ll.AdvertisingPdu):
    address: hci.Address
    connectable: bool
    scannable: bool
    legacy: bool
    data: bytes
    rsp: bytes
    sid: int = 0
    tx_power: int = 0x7F


class Copy:
    """How much of a document has arrived at a central's controller, in order."""

    def __init__(self):
        self.size = self.values = 0
        self.is_wrong = self.is_whole = False

    def take(self, document, value):
        self.values += 1
        if self.is_wrong or self.is_whole or not value:
            self.is_wrong = True
        elif self.size == len(document):
            self.is_whole = value == b'EOM'
            self.is_wrong = not self.is_whole
        elif document.startswith(value, self.size):
            self.size += len(value)
        else:
            self.is_wrong = True

    def __str__(self):
        return '%d %d %s' % (self.size, self.values, 'wrong' if self.is_wrong else 'whole' if self.is_whole else 'open')


class Air(link.LocalLink):
    def __init__(self):
        super().__init__()
        self.packet_time = 0.0   # seconds per ACL packet and direction; 0: no limit
        self.packet_times = {}   # the same for the links of some addresses
        self.shortest, self.longest = 0.02, 0.2  # seconds between two packets of an advertisement
        self.deaf = False        # True: ACL data is lost in the air
        self.arrivals = []       # of updates at a central's controller: address, first bytes, microseconds
        self.is_noting = False
        self.document = None     # what the updates are parts of
        self.is_kept = False     # True: the centrals' hosts get nothing of it
        self.copies = {}         # by the address of the central

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        mine = sender_controller.le_connections.get(destination_address)
        if mine is None or self.deaf:
            return
        for c in self.controllers:
            other = c.le_connections.get(mine.self_address)
            if other and other.self_address == destination_address:
                if data[2:4] == b'\4\0' and data[4] in (0x1B, 0x1D):
                    self.note(destination_address, data)
                    if self.is_kept:
                        return
                asyncio.get_running_loop().call_soon(
                    c.on_link_acl_data, mine.self_address, transport, data)
                return

    def note(self, address, data):
        """An update has arrived at a central's controller."""
        if self.is_noting:
            self.arrivals.append('%s %s %d' % (
                str(address)[:17], data[7:11].hex() or '-', time.monotonic_ns() // 1000))
        if self.document is not None:
            if address not in self.copies:
                self.copies[address] = Copy()
            self.copies[address].take(self.document, data[7:])

    def packet_time_of(self, link):
        if not self.packet_times:
            return self.packet_time
        return self.packet_times.get(link.self_name, self.packet_times.get(link.peer_name, self.packet_time))

    def send_ll_control_pdu(self, sender_address, receiver_address, packet):
        for c in self.controllers:
            other = c.le_connections.get(sender_address)
            if other and other.self_address == receiver_address:
                asyncio.get_running_loop().call_soon(c.on_ll_control_pdu, sender_address, packet)
                return
        log.info('nobody at %s for %s', receiver_address, packet)


def wait(air, minimum, maximum):
    """The seconds until the next packet, with the random delay of Vol 6, Part B, 4.4.2.2.1."""
    if air.longest < 1:
        return min(max(minimum * 0.000625, air.shortest), air.longest)
    return (minimum + maximum) / 2 * 0.000625 + random.uniform(0, 0.01)


class Legacy(LegacyAdvertiser):
    """Advertising with the 4.x commands."""

    def _on_timer_fired(self):
        self.send_advertising_data()
        self.timer_handle = asyncio.get_running_loop().call_later(
            wait(self.controller.link, self.advertising_interval_min, self.advertising_interval_max),
            self._on_timer_fired)

    def send_advertising_data(self):
        if self.enabled:
            self.controller.send_advertising_pdu(Adv(
                self.address, self.advertising_type in (0, 1), self.advertising_type in (0, 2),
                True, bytes(self.advertising_data), bytes(self.scan_response_data)))


class ExtendedSet(AdvertisingSet):
    """One set of extended advertising (5.0 commands)."""

    def _on_extended_advertising_timer_fired(self):
        if not self.enabled:
            return
        self.send_extended_advertising_data()
        p = self.parameters
        minimum, maximum = (p.primary_advertising_interval_min, p.primary_advertising_interval_max) if p else (160, 160)
        self.timer_handle = asyncio.get_running_loop().call_later(
            wait(self.controller.link, minimum, maximum), self._on_extended_advertising_timer_fired)

    def send_extended_advertising_data(self):
        if self.address is None or self.parameters is None:
            return
        kind = int(self.parameters.advertising_event_properties)
        self.controller.send_advertising_pdu(Adv(
            self.address, bool(kind & 1), bool(kind & 2), bool(kind & 0x10),
            bytes(self.data), bytes(self.scan_response_data), self.parameters.advertising_sid))


class Link(Connection):
    """A link that can be made slow; a full controller then withholds its credits."""

    def __post_init__(self):
        super().__post_init__()
        self.free_at = self.packet_time = 0.0
        self.waiting = collections.deque()
        self.timer = None
        self.self_name, self.peer_name = str(self.self_address)[:17], str(self.peer_address)[:17]

    def on_hci_acl_data_packet(self, packet):
        if not self.waiting and not self.link.packet_time_of(self):
            return self.carry(packet)
        self.waiting.append(packet)
        if len(self.waiting) == 1:
            self.carry_first_after(max(self.free_at, asyncio.get_running_loop().time()))

    def carry_first_after(self, start):
        self.packet_time = self.link.packet_time_of(self)
        self.free_at = start + self.packet_time
        self.timer = asyncio.get_running_loop().call_at(self.free_at, self.carry_first)

    def carry_first(self):
        packet = self.waiting.popleft()
        if self.waiting:
            self.carry_first_after(self.free_at)
        self.carry(packet)

    def speed_may_have_changed(self):
        if self.waiting and self.link.packet_time_of(self) != self.packet_time:
            self.timer.cancel()
            self.carry_first_after(asyncio.get_running_loop().time())

    def carry(self, packet):
        self.assembler.feed_packet(packet)
        # Number Of Completed Packets: one, of this link.
        self.controller.send_hci_packet(struct.pack('<BBBBHH', 4, 0x13, 5, 1, self.handle, 1))


class RigController(Controller):
    le_acl_data_packet_length = 251
    total_num_le_acl_data_packets = 8
    supported_max_tx_octets = supported_max_rx_octets = 251
    supported_max_tx_time = supported_max_rx_time = 2120
    suggested_max_tx_octets = 251
    suggested_max_tx_time = 2120

    def __init__(self, *args, extended=True, **kwargs):
        super().__init__(*args, **kwargs)
        self.le_legacy_advertiser = Legacy(self)
        self.le_features &= ~hci.LeFeatureMask.LL_PRIVACY & ~hci.LeFeatureMask.LE_PERIODIC_ADVERTISING
        self.scan_active = True
        self.scan_times, self.scan_start = (0, 0), 0
        self.seen = set()
        self.supported_commands = set(self.supported_commands) - {
            hci.HCI_LE_SET_PHY_COMMAND, hci.HCI_LE_SET_DATA_LENGTH_COMMAND,
            hci.HCI_LE_READ_BUFFER_SIZE_V2_COMMAND}
        if extended:
            self.supported_commands |= {
                hci.HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS_COMMAND,
                hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_COMMAND,
                hci.HCI_LE_SET_EXTENDED_ADVERTISING_DATA_COMMAND,
                hci.HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA_COMMAND,
                hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND,
                hci.HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH_COMMAND,
                hci.HCI_LE_READ_NUMBER_OF_SUPPORTED_ADVERTISING_SETS_COMMAND,
                hci.HCI_LE_REMOVE_ADVERTISING_SET_COMMAND,
                hci.HCI_LE_CLEAR_ADVERTISING_SETS_COMMAND,
                hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND,
                hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND,
                hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND}
        else:
            self.le_features &= ~hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
            self.hci_version = self.lmp_version = hci.HCI_VERSION_BLUETOOTH_CORE_4_2

    # ------------------------------------------------------- packets
    # Bumble makes a text of each packet for its log, also when nobody reads that: most of what a data packet costs.

    def on_packet(self, packet):
        if packet[0] == hci.HCI_ACL_DATA_PACKET and not log.isEnabledFor(logging.DEBUG):
            self.on_hci_acl_data_packet(hci.HCI_AclDataPacket.from_bytes(packet))
        else:
            super().on_packet(packet)

    def send_hci_packet(self, packet):
        if log.isEnabledFor(logging.DEBUG):
            super().send_hci_packet(hci.HCI_Packet.from_bytes(bytes(packet)))
        elif self.host:
            asyncio.get_running_loop().call_soon(self.host.on_packet, bytes(packet))

    # ------------------------------------------------------- gone and reset
    def drop_links(self, reason=LOST, tell_host=True, of=None):
        """The other ends of all links, or that of one address, lose this controller."""
        for connection in list(self.le_connections.values()):
            if of is not None and connection.peer_name != of:
                continue
            for c in self.link.controllers:
                other = c.le_connections.get(connection.self_address)
                if c is not self and other and other.self_address == connection.peer_address:
                    c.on_le_disconnected(other, reason)
            if tell_host:
                self.on_le_disconnected(connection, reason)
            else:
                self.le_connections.pop(connection.peer_address, None)

    def quiet(self):
        self.le_legacy_advertiser.stop()
        for s in self.advertising_sets.values():
            s.stop()
        self.advertising_sets.clear()
        self.le_scan_enable = False
        self.pending_le_connection = None

    def leave(self):
        self.quiet()
        self.drop_links(tell_host=False)
        self.link.remove_controller(self)
        self.host = None

    def on_hci_reset_command(self, command):
        self.quiet()
        self.drop_links(tell_host=False)
        return super().on_hci_reset_command(command)

    def on_hci_disconnect_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if self.name != 'hci' or connection is None:
            return super().on_hci_disconnect_command(command)
        # A real controller tells its own host who has disconnected (Core Specification, Vol 1, Part F, 2.22).
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        connection.send_ll_control_pdu(ll.TerminateInd(command.reason))
        self.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR)

    def on_hci_read_rssi_command(self, command):
        known = any(c.handle == command.handle for c in self.le_connections.values())
        return hci.HCI_Read_RSSI_ReturnParameters(
            status=OK if known else hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            handle=command.handle, rssi=-50)

    def on_hci_le_create_connection_cancel_command(self, command):
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        asyncio.get_running_loop().call_soon(self.send_hci_packet, hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0,
            role=hci.Role.CENTRAL, peer_address_type=0, peer_address=hci.Address.ANY,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0,
            central_clock_accuracy=0))
        return hci.HCI_StatusReturnParameters(OK)

    # ------------------------------------------------------- advertising
    def _set(self, handle):
        if handle not in self.advertising_sets:
            self.advertising_sets[handle] = ExtendedSet(controller=self, handle=handle)

    def on_hci_le_set_advertising_set_random_address_command(self, command):
        self._set(command.advertising_handle)
        return super().on_hci_le_set_advertising_set_random_address_command(command)

    def on_hci_le_set_extended_advertising_parameters_command(self, command):
        self._set(command.advertising_handle)
        return super().on_hci_le_set_extended_advertising_parameters_command(command)

    def _too_long(self, command, data):
        # A set with legacy PDUs has no room for more than 31 bytes; real controllers refuse.
        s = self.advertising_sets.get(command.advertising_handle)
        return bool(s and s.parameters and int(s.parameters.advertising_event_properties) & 0x10
                    and len(data) > 31)

    def on_hci_le_set_extended_advertising_data_command(self, command):
        if self._too_long(command, command.advertising_data):
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.INVALID_COMMAND_PARAMETERS_ERROR)
        return super().on_hci_le_set_extended_advertising_data_command(command)

    def on_hci_le_set_extended_scan_response_data_command(self, command):
        if self._too_long(command, command.scan_response_data):
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.INVALID_COMMAND_PARAMETERS_ERROR)
        return super().on_hci_le_set_extended_scan_response_data_command(command)

    def on_hci_le_read_number_of_supported_advertising_sets_command(self, command):
        return hci.HCI_LE_Read_Number_Of_Supported_Advertising_Sets_ReturnParameters(
            status=OK, num_supported_advertising_sets=5)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self.scan_active = bool(command.scan_types and command.scan_types[0])
        self.scan_times = command.scan_intervals[0] * 0.000625, command.scan_windows[0] * 0.000625
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def on_hci_le_set_scan_parameters_command(self, command):
        self.scan_active = bool(command.le_scan_type)
        self.scan_times = command.le_scan_interval * 0.000625, command.le_scan_window * 0.000625
        return super().on_hci_le_set_scan_parameters_command(command)

    def is_listening(self):
        """Whether the scan window is open; in a quick air, it always is."""
        interval, window = self.scan_times
        if self.link.longest < 1 or window >= interval:
            return True
        return (time.monotonic() - self.scan_start) % interval < window

    def start_scan(self):
        # A phone also scans for others, so the phase of its windows is random.
        self.seen.clear()
        self.scan_start = time.monotonic() - random.uniform(0, self.scan_times[0])

    def on_hci_le_set_extended_scan_enable_command(self, command):
        self.start_scan()
        return super().on_hci_le_set_extended_scan_enable_command(command)

    def on_hci_le_set_scan_enable_command(self, command):
        self.start_scan()
        return super().on_hci_le_set_scan_enable_command(command)

    def on_ll_advertising_pdu(self, packet):
        if isinstance(packet, Adv):
            self.on_adv(packet)
        else:
            super().on_ll_advertising_pdu(packet)

    def _report(self, pdu, data, is_rsp):
        if self.le_features & hci.LeFeatureMask.LE_EXTENDED_ADVERTISING:
            kind = (1 if pdu.connectable else 0) | (2 if pdu.scannable else 0) | \
                (8 if is_rsp else 0) | (0x10 if pdu.legacy else 0)
            first = True
            while first or data:
                part, data = data[:229], data[229:]
                first = False
                self.send_hci_packet(hci.HCI_LE_Extended_Advertising_Report_Event([
                    hci.HCI_LE_Extended_Advertising_Report_Event.Report(
                        event_type=kind | (0x20 if data else 0),
                        address_type=pdu.address.address_type, address=pdu.address,
                        primary_phy=hci.Phy.LE_1M, secondary_phy=hci.Phy.LE_1M,
                        advertising_sid=pdu.sid, tx_power=pdu.tx_power, rssi=-50,
                        periodic_advertising_interval=0, direct_address_type=0,
                        direct_address=hci.Address.ANY, data=part)]))
        elif pdu.legacy:
            kind = 4 if is_rsp else 0 if pdu.connectable else 2 if pdu.scannable else 3
            self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([
                hci.HCI_LE_Advertising_Report_Event.Report(
                    event_type=kind, address_type=pdu.address.address_type, address=pdu.address,
                    data=data, rssi=-50)]))

    def on_adv(self, pdu):
        if self.le_scan_enable and self.is_listening():
            key = (bytes(pdu.address), pdu.data, pdu.rsp)
            if not (self.filter_duplicates and key in self.seen):
                self.seen.add(key)
                self._report(pdu, pdu.data, False)
                if pdu.scannable and self.scan_active:
                    self._report(pdu, pdu.rsp, True)
        pending = self.pending_le_connection
        if pending and pdu.connectable and pending.peer_address == pdu.address:
            self.create_le_connection(pdu.address)

    # ------------------------------------------------------- links
    def _link(self, role, self_address, peer_address):
        connection = Link(
            controller=self, handle=self.allocate_connection_handle(), role=role,
            self_address=self_address, peer_address=peer_address, link=self.link,
            transport=PhysicalTransport.LE,
            link_type=hci.HCI_Connection_Complete_Event.LinkType.ACL)
        self.le_connections[peer_address] = connection
        return connection

    def _complete(self, connection, interval, latency, timeout):
        self.send_hci_packet(hci.HCI_LE_Connection_Complete_Event(
            status=OK, connection_handle=connection.handle, role=connection.role,
            peer_address_type=connection.peer_address.address_type,
            peer_address=connection.peer_address, connection_interval=interval,
            peripheral_latency=latency, supervision_timeout=timeout, central_clock_accuracy=0))

    def create_le_connection(self, peer_address):
        pending, self.pending_le_connection = self.pending_le_connection, None
        me = self.public_address if pending.own_address_type == hci.OwnAddressType.PUBLIC \
            else self.random_address
        if isinstance(pending, hci.HCI_LE_Extended_Create_Connection_Command):
            values = (pending.connection_interval_mins[0], pending.max_latencies[0],
                      pending.supervision_timeouts[0])
        else:
            values = (pending.connection_interval_min, pending.max_latency, pending.supervision_timeout)
        if peer_address in self.le_connections:
            log.error('already connected to %s', peer_address)
            return
        connection = self._link(hci.Role.CENTRAL, me, peer_address)
        self.send_advertising_pdu(ll.ConnectInd(
            initiator_address=me, advertiser_address=peer_address,
            interval=values[0], latency=values[1], timeout=values[2]))
        self._complete(connection, *values)

    def on_le_connect_ind(self, packet):
        legacy = self.le_legacy_advertiser
        if legacy.enabled and legacy.address == packet.advertiser_address \
                and legacy.advertising_type in (0, 1):
            advertiser = legacy
        else:
            advertiser = next((s for s in self.advertising_sets.values()
                               if s.enabled and s.address == packet.advertiser_address
                               and int(s.parameters.advertising_event_properties) & 1), None)
        if advertiser is None:
            return
        connection = self._link(hci.Role.PERIPHERAL, packet.advertiser_address, packet.initiator_address)
        advertiser.stop()
        self._complete(connection, packet.interval, packet.latency, packet.timeout)
        if isinstance(advertiser, AdvertisingSet):
            self.send_hci_packet(hci.HCI_LE_Advertising_Set_Terminated_Event(
                status=OK, advertising_handle=advertiser.handle, connection_handle=connection.handle,
                num_completed_extended_advertising_events=0))

    def on_link_acl_data(self, sender_address, transport, data):
        connection = self.le_connections.get(sender_address)
        if connection is None:
            return
        first, flag = True, 2
        while first or data:    # no HCI packet larger than what the host was told
            part, data = data[:self.le_acl_data_packet_length], data[self.le_acl_data_packet_length:]
            self.send_hci_packet(hci.HCI_AclDataPacket(connection.handle, flag, 0, len(part), part))
            first, flag = False, 1


# ------------------------------------------------------------------- endpoints
class Vhci:
    """The adapter: a controller behind /dev/vhci."""

    def __init__(self, air, address, extended):
        self.air, self.address, self.extended = air, address, extended
        self.fd = None
        self.controller = None

    def plug(self):
        if self.fd is not None:
            return 'already plugged'
        self.fd = os.open('/dev/vhci', os.O_RDWR | os.O_NONBLOCK)
        self.controller = RigController('hci', host_sink=self, link=self.air,
                                        public_address=self.address, extended=self.extended)
        asyncio.get_running_loop().add_reader(self.fd, self._readable)
        os.write(self.fd, b'\xff\x00')  # vendor packet: create a primary controller
        return 'plugged'

    def unplug(self):
        if self.fd is None:
            return 'not plugged'
        asyncio.get_running_loop().remove_reader(self.fd)
        self.controller.leave()
        os.close(self.fd)
        self.fd = self.controller = None
        return 'unplugged'

    def _readable(self):
        for _ in range(64):
            try:
                packet = os.read(self.fd, 4096)
            except BlockingIOError:
                return
            except OSError as error:
                log.error('vhci: %s', error)
                return
            if not packet:
                return
            if packet[0] == 0xFF:
                log.info('adapter hci%d', packet[2] | packet[3] << 8)
                continue
            try:
                self.controller.on_packet(packet)
            except Exception:
                log.exception('bad packet from the kernel: %s', packet.hex())
            if self.fd is None:
                return

    def on_packet(self, packet):
        if self.fd is not None:
            try:
                os.write(self.fd, packet)
            except OSError as error:
                log.error('vhci write: %s', error)


LENGTHS = {1: (4, 3, 1), 2: (5, 3, 2), 3: (4, 3, 1), 4: (3, 2, 1), 5: (5, 3, 2)}


class Client(asyncio.Protocol):
    """A central's host, attached through the Unix socket."""
    number = 0

    def __init__(self, air):
        self.air = air
        self.buffer = b''

    def connection_made(self, transport):
        Client.number += 1
        self.transport = transport
        self.controller = RigController(
            'client%d' % Client.number, host_sink=self, link=self.air,
            public_address=hci.Address('C0:FF:EE:00:%02X:%02X' % divmod(Client.number, 256),
                                       hci.Address.PUBLIC_DEVICE_ADDRESS))
        log.info('client %d', Client.number)

    def connection_lost(self, exc):
        self.controller.leave()
        log.info('client gone')

    def data_received(self, data):
        self.buffer += data
        while self.buffer:
            head, at, size = LENGTHS.get(self.buffer[0], (0, 0, 0))
            if not head:
                log.error('not H4: %s', self.buffer[:8].hex())
                self.transport.close()
                return
            if len(self.buffer) < head:
                return
            n = head + int.from_bytes(self.buffer[at:at + size], 'little')
            if len(self.buffer) < n:
                return
            packet, self.buffer = self.buffer[:n], self.buffer[n:]
            try:
                self.controller.on_packet(packet)
            except Exception:
                log.exception('bad packet from a client: %s', packet.hex())

    def on_packet(self, packet):
        self.transport.write(packet)


async def main():
    p = argparse.ArgumentParser()
    p.add_argument('--dir', default='/run/rig')
    p.add_argument('--address', default='00:AA:01:00:00:42')
    p.add_argument('--second', default='00:AA:01:00:00:43', help='the address of the adapter that is plugged in later')
    p.add_argument('--legacy', action='store_true', help='a 4.2 adapter: no extended advertising')
    p.add_argument('--speed', default='2.5', help='milliseconds per ACL packet and direction; 0: no limit')
    p.add_argument('--debug', action='store_true')
    a = p.parse_args()
    logging.basicConfig(level=logging.DEBUG if a.debug else logging.INFO, stream=sys.stderr,
                        format='%(asctime)s %(name)s: %(message)s')
    air = Air()
    adapters = {name: Vhci(air, hci.Address(address, hci.Address.PUBLIC_DEVICE_ADDRESS), not a.legacy)
                for name, address in (('first', a.address), ('second', a.second))}
    loop = asyncio.get_running_loop()

    def speed(milliseconds='0', address=None):
        if address is None:
            air.packet_time, air.packet_times = float(milliseconds) / 1000, {}
        else:
            air.packet_times[address] = float(milliseconds) / 1000
        for controller in air.controllers:
            for connection in controller.le_connections.values():
                connection.speed_may_have_changed()
        return 'ok'

    def deaf(on='1'):
        air.deaf = on == '1'
        return 'ok'

    def arrivals():
        noted, air.arrivals, air.is_noting = air.arrivals, [], True
        return '\n'.join(noted)

    def document(path=None, kept=None):
        air.arrivals, air.is_noting, air.copies = [], False, {}
        air.document, air.is_kept = None, kept == 'kept'
        if path is not None:
            with open(path, 'rb') as file:
                air.document = file.read()
        return 'ok'

    def copies():
        return '\n'.join('%s %s' % (str(address)[:17], copy) for address, copy in air.copies.items())

    def intervals():
        def line(advertiser, minimum, maximum, data):
            return '%s %s %d %d' % (str(advertiser.address)[:17], bytes(data).hex() or '-', minimum, maximum)
        lines = []
        for controller in (adapter.controller for adapter in adapters.values() if adapter.controller):
            legacy = controller.le_legacy_advertiser
            if legacy.enabled:
                lines.append(line(legacy, legacy.advertising_interval_min, legacy.advertising_interval_max,
                                  legacy.advertising_data))
            for s in controller.advertising_sets.values():
                if s.enabled and s.parameters:
                    lines.append(line(s, s.parameters.primary_advertising_interval_min,
                                      s.parameters.primary_advertising_interval_max, s.data))
        return '\n'.join(lines)

    def pace(kind='real'):
        air.shortest, air.longest = (0.02, 10.24) if kind == 'real' else (0.02, 0.2)
        return 'ok'

    def cut(address=None):
        for adapter in adapters.values():
            if adapter.controller:
                adapter.controller.drop_links(of=address)
        return 'ok'

    def plug(name='first'):
        return adapters[name].plug()

    def unplug(name='first'):
        return adapters[name].unplug()

    speed(a.speed)
    orders = {
        'plug': plug,               # plug [second]: the adapter appears, under the lowest number that is free
        'unplug': unplug,           # unplug [second]: the adapter is pulled out
        'cut': cut,                 # cut [ADDRESS]: all links of the adapters, or that of ADDRESS, are lost (timeout)
        'speed': speed,             # speed MS [ADDRESS]: each ACL packet takes MS milliseconds, on all links or on ADDRESS's
        'arrivals': arrivals,       # the updates that have arrived since the last such order
        'document': document,       # document PATH [kept]: the updates are its parts (kept from the hosts); without: of none
        'copies': copies,           # of that document: whose, bytes, values, and whether it is whole, open or wrong
        'intervals': intervals,     # of the adapters' advertisements: address, data, least and greatest interval in 0.625 ms
        'pace': pace,               # pace real|quick: intervals and scan windows are real; or at most 0.2 s, and always open
        'deaf': deaf,               # deaf 1|0: ACL data is lost / arrives again
    }

    async def control(reader, writer):
        line = (await reader.readline()).decode().split()
        try:
            reply = orders[line[0]](*line[1:])
        except Exception as error:
            reply = 'error %r' % error
        writer.write((reply + '\n').encode())
        await writer.drain()
        writer.close()

    os.makedirs(a.dir, exist_ok=True)
    await loop.create_unix_server(lambda: Client(air), os.path.join(a.dir, 'hci'))
    await asyncio.start_unix_server(control, os.path.join(a.dir, 'ctl'))
    plug()
    await asyncio.Event().wait()


if __name__ == '__main__':
    asyncio.run(main())
