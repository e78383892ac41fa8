package import PeripheralCore
package import PeripheralKit
internal import Synchronization

/// A listener for L2CAP channels of a ``VirtualGATTServer``.
struct VirtualListener: Sendable {
    var declaration: BackendListener
    /// Receives each channel, with the address of its link.
    var open: @Sendable (VirtualChannel, DeviceAddress) -> Void
}

extension VirtualGATTServer {
    /// Opens a listener.
    ///
    /// - Parameters:
    ///   - listener: The listener.
    ///   - psm: The number; `nil` for any free number.
    ///   - open: Receives each channel, with the address of its link. The closure begins or aborts the
    ///     channel, at once or later.
    /// - Returns: The PSM; `nil` if it is taken, or if none is free.
    package func listen(
        _ listener: BackendListener,
        at psm: UInt16?,
        _ open: @escaping @Sendable (VirtualChannel, DeviceAddress) -> Void
    ) -> UInt16? {
        state.withLock { state in
            let free = psm.map { [$0] } ?? Array(L2CAPListener.PSM.dynamic)
            guard let psm = free.first(where: { state.listeners[$0] == nil }) else { return nil }
            state.listeners[psm] = VirtualListener(declaration: listener, open: open)
            return psm
        }
    }

    /// Closes a listener; its channels stay open.
    package func stopListening(_ psm: UInt16) {
        state.withLock { $0.listeners[psm] = nil }
    }

    /// Opens a channel for a central.
    ///
    /// - Parameters:
    ///   - psm: The number of the listener.
    ///   - mtu: The longest packet that the central receives.
    ///   - connection: The connection of the central.
    /// - Returns: The channel.
    /// - Throws: ``ChannelRefusal``, or ``TestCentralError`` with the code `disconnected`.
    package func openChannel(
        psm: UInt16,
        mtu: Int,
        on connection: ConnectionID
    ) throws -> VirtualChannel {
        let (listener, address, channel) = try state.withLock { state in
            guard let link = state.att.connections[connection] else { throw TestCentralError.connectionEnded }
            guard let listener = state.listeners[psm] else { throw ChannelRefusal.psmNotSupported }
            let demanded = listener.declaration.security
            guard link.security >= demanded else {
                // Like Linux, which names the missing authentication also on a link without encryption.
                throw demanded > .encrypted
                    ? ChannelRefusal.insufficientAuthentication : ChannelRefusal.insufficientEncryption
            }
            let channel = VirtualChannel(
                receiveMTU: listener.declaration.mtu,
                sendMTU: mtu,
                bufferedBytes: listener.declaration.bufferedBytes,
                clock: clock
            )
            state.channels[connection, default: []].removeAll(where: \.hasEnded)
            state.channels[connection, default: []].append(channel)
            return (listener, link.central.linkAddress, channel)
        }
        listener.open(channel, address)
        return channel
    }
}
