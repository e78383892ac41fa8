internal import PeripheralDBus

/// The filter of the monitor channel, which passes only sent data and its completion.
///
/// The filter passes the beginnings of data that an adapter sends, and the events that complete the data. It
/// is a program of the classic packet filter, which runs in the kernel. Other traffic of a controller (audio,
/// keys, scan results) costs nothing. The filter passes no value, except if a central requests several
/// updates in one packet. Offsets count from `struct hci_mon_hdr`. The numbers in this structure are
/// little-endian, while the filter loads big-endian numbers.
struct MonitorFilter {
    let program: [SocketFilter.Instruction]

    /// Creates the filter for the adapter with a number.
    init(adapter: UInt16) {
        program = [
            .loadHalf(2),
            .ifEqual(UInt32(adapter.byteSwapped), skip: 1, else: 0),
            .pass(0),
            .loadHalf(0),
            .ifEqual(0x0400, skip: 10, else: 0),
            .ifEqual(0x0300, skip: 3, else: 0),
            .ifEqual(0x0900, skip: 1, else: 0),
            .ifEqual(0x0100, skip: 0, else: 6),
            // The adapter is closed or removed.
            .pass(6),
            // An event: Number Of Completed Packets, or Disconnection Complete.
            .loadByte(6),
            .ifEqual(0x13, skip: 0, else: 1),
            .pass(264),
            .ifEqual(0x05, skip: 0, else: 1),
            .pass(12),
            .pass(0),
            // Passes the head of data that continues an earlier packet.
            .loadByte(7),
            .keepBits(0x30),
            .ifEqual(0x10, skip: 0, else: 1),
            .pass(10),
            // Passes the length and the channel of data on a channel other than the attribute channel.
            .loadHalf(12),
            .ifEqual(0x0400, skip: 1, else: 0),
            .pass(14),
            // Passes several updates in one packet as a whole, because their attributes are spread over the
            // packet. Passes one update with its attribute, and the kind of any other data.
            .loadByte(14),
            .ifEqual(0x23, skip: 0, else: 1),
            .pass(0xFFFF),
            .ifEqual(0x1B, skip: 1, else: 0),
            .ifEqual(0x1D, skip: 0, else: 1),
            .pass(17),
            .pass(15),
        ]
    }

    /// Applies the filter permanently to the frames that a socket receives.
    ///
    /// - Returns: Whether the kernel applies it.
    func attach(to socket: OwnedFileDescriptor) -> Bool {
        SocketFilter(program: program).attach(to: socket)
    }
}
