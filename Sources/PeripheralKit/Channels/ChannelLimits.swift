/// The limits of an ``L2CAPListener``, which bound what centrals can cost.
///
/// A channel counts until its handler has returned, and until the packets that the handler has sent have
/// left. If a limit is reached, the peripheral closes each further channel at once, before any handler runs.
public struct ChannelLimits: Hashable, Sendable {
    /// The maximum number of channels of one central at a time, at least 1.
    public var channelsPerCentral: Int
    /// The maximum number of channels of all centrals at a time, at least 1.
    public var channels: Int
    /// The memory for packets of one channel that the program has not read yet, in bytes, at least 4,096.
    ///
    /// When the memory is used up, the central must wait. There is always memory for one packet of the
    /// maximum length, for which Linux reserves 36 bytes for each byte of ``L2CAPListener/mtu``.
    ///
    /// In memory, packets of this many bytes fit. On Linux, the kernel also counts its own data for each
    /// piece of a packet. About an eighth of the number is then left for packets, and up to a third on
    /// kernels with few features.
    public var bufferedBytes: Int

    /// Creates limits.
    public init(channelsPerCentral: Int = 4, channels: Int = 16, bufferedBytes: Int = 65_536) {
        self.channelsPerCentral = channelsPerCentral
        self.channels = channels
        self.bufferedBytes = bufferedBytes
    }
}
