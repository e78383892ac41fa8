"""A central's end of an L2CAP LE credit-based channel, with flow control in both directions.

Bumble's own channel drops packets that arrive before its user has set a sink. It grants credits without an end, and it
joins packets that wait to one.
"""

import asyncio
import collections

from bumble import l2cap

CREDITS = 32            # PDUs that the peripheral may send ahead; with 16, a link of 1 ms per PDU is not full
WAITING = 1 << 20       # bytes of packets that wait to be fetched; then no more credits are granted


class Closed(Exception):
    """The channel has ended."""


class Channel(l2cap.LeCreditBasedChannel):
    @classmethod
    async def open(cls, connection, psm, mtu, mps):
        """Does what ChannelManager.create_le_credit_based_channel does."""
        manager = connection.device.l2cap_channel_manager
        channels = manager.channels.setdefault(connection.handle, {})
        cid = manager.find_free_le_cid(channels)
        channel = channels[cid] = cls(
            manager=manager, connection=connection, psm=psm, source_cid=cid, destination_cid=0, mtu=mtu, mps=mps,
            credits=0, peer_mtu=0, peer_mps=0, peer_credits=CREDITS, connected=False)
        try:
            await channel.connect()
        except BaseException:
            channels.pop(cid, None)
            raise
        return channel

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.sink = self.take
        self.peer_credits_threshold = -1    # never: grant() does it
        self.packets = collections.deque()
        self.size = 0                       # of the packets, in bytes
        self.is_held = False
        self.change = asyncio.Event()
        self.sending, self.receiving = asyncio.Lock(), asyncio.Lock()

    # ---------------------------------------------------------------- waiting
    @property
    def has_ended(self):
        return self.state not in (self.State.INIT, self.State.CONNECTING, self.State.CONNECTED)

    def notify(self):
        self.change.set()
        self.change = asyncio.Event()

    async def until(self, condition):
        """Waits until the condition holds or the channel has ended."""
        while not condition() and not self.has_ended:
            await self.change.wait()

    # ---------------------------------------------------------------- what Bumble calls
    def _change_state(self, new_state):
        super()._change_state(new_state)
        self.notify()

    def on_connection_response(self, response):
        super().on_connection_response(response)
        if self.state == self.State.CONNECTED:
            # At once: credits can come before connect() goes on.
            self.manager.le_coc_channels.setdefault(self.connection.handle, {})[self.destination_cid] = self

    def process_output(self):
        super().process_output()
        self.notify()

    def on_pdu(self, pdu):
        super().on_pdu(pdu)
        self.grant()

    # ---------------------------------------------------------------- receiving
    def take(self, packet):
        self.packets.append(packet)
        self.size += len(packet)
        self.notify()

    def grant(self):
        """Grants the credits that have been used, half of them at a time or more."""
        if self.is_held or self.size >= WAITING or self.state != self.State.CONNECTED:
            return
        if self.peer_credits <= self.peer_max_credits // 2:
            self.send_control_frame(l2cap.L2CAP_LE_Flow_Control_Credit(
                identifier=self.manager.next_identifier(self.connection), cid=self.source_cid,
                credits=self.peer_max_credits - self.peer_credits))
            self.peer_credits = self.peer_max_credits

    def hold(self, is_held):
        self.is_held = is_held
        self.grant()

    async def receive(self):
        async with self.receiving:
            await self.until(lambda: self.packets)
            if not self.packets:
                raise Closed()
            packet = self.packets.popleft()
            self.size -= len(packet)
            self.grant()
            return packet

    # ---------------------------------------------------------------- sending
    async def send(self, packet):
        """Sends one packet as one SDU. Returns when the controller has all of it."""
        controller = self.connection.device.host.get_data_packet_queue(self.connection.handle)

        def has_left():
            return not self.out_sdu and not self.out_queue and controller.pending <= controller.max_in_flight

        async with self.sending:
            if self.has_ended:
                raise Closed()
            controller.on('flow', self.notify)
            try:
                await self.until(has_left)      # one of before, for which the credits came too late
                self.write(packet)              # has no effect if the channel has ended
                await self.until(has_left)
            finally:
                self.out_queue.clear()          # none of it has left
                controller.remove_listener('flow', self.notify)
            if self.has_ended:
                raise Closed()

    def send_frame(self, frame):
        """Sends a PDU of any content, whatever the credits."""
        if self.has_ended:
            raise Closed()
        self.send_pdu(frame)

    async def close(self):
        if self.state == self.State.CONNECTED:
            await self.disconnect()
        await self.until(lambda: False)
