package import PeripheralCore
package import PeripheralDBus
package import PeripheralKit

/// Provides the kernel's information about an adapter's connections that bluetoothd does not report.
package protocol KernelLinks: Sendable {
    /// Returns the connections of an adapter at this moment.
    ///
    /// - Parameter adapter: The path of the adapter's object, such as `/org/bluez/hci0`.
    /// - Returns: The connections; `nil` if they are not known.
    func links(of adapter: ObjectPath) -> [LinkState]?

    /// Begins to watch the traffic on the connections of an adapter.
    ///
    /// - Parameters:
    ///   - adapter: The path of the adapter's object.
    ///   - loop: The loop on which the caller runs.
    ///   - handle: Called on the loop with observations.
    /// - Returns: The watch; `nil` if the kernel does not allow it.
    func watch(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping ([LinkObservation]) -> Void
    ) -> (any LinkWatch)?

    /// Begins to receive the events of an adapter's controller about its links.
    ///
    /// - Parameters:
    ///   - adapter: The path of the adapter's object.
    ///   - loop: The loop on which the caller runs.
    ///   - handle: Called on the loop with each event.
    /// - Returns: The controller; `nil` if the kernel does not allow it.
    func control(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping (LinkEvent) -> Void
    ) -> (any LinkControl)?

    /// Returns the numbers of packets and bytes that an adapter has sent and received so far.
    ///
    /// - Parameter adapter: The path of the adapter's object.
    /// - Returns: The numbers; `nil` if they are not known.
    func counters(of adapter: ObjectPath) -> LinkCounters?

    /// Returns the number of packets that the controller of an adapter has room for.
    ///
    /// - Parameter adapter: The path of the adapter's object.
    /// - Returns: The number; `nil` if it is not known, as for a controller that also supports Bluetooth
    ///   Classic.
    func packetRoom(of adapter: ObjectPath) -> Int?

    /// Opens a listener for L2CAP channels.
    ///
    /// - Parameters:
    ///   - request: The listener, and where it listens.
    ///   - loop: The loop on which the caller runs.
    ///   - handle: Called on the loop with each channel, and the address of its link. The closure begins or
    ///     aborts the channel, at once or later.
    /// - Returns: The open listener.
    /// - Throws: ``ChannelListenerFailure``.
    func listen(
        _ request: ListenerRequest,
        on loop: EventLoop,
        _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) throws(ChannelListenerFailure) -> any ChannelListener
}

extension KernelLinks {
    package func watch(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping ([LinkObservation]) -> Void
    ) -> (any LinkWatch)? {
        nil
    }

    package func control(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping (LinkEvent) -> Void
    ) -> (any LinkControl)? {
        nil
    }

    package func counters(of adapter: ObjectPath) -> LinkCounters? { nil }

    package func listen(
        _ request: ListenerRequest,
        on loop: EventLoop,
        _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) throws(ChannelListenerFailure) -> any ChannelListener {
        throw .noSockets
    }

    package func packetRoom(of adapter: ObjectPath) -> Int? { nil }

    /// Returns the number of packets that the controller of an adapter has room for, or the usual number if
    /// it is not known.
    func room(of adapter: ObjectPath) -> Int { packetRoom(of: adapter) ?? usualPacketRoom }
}

/// The number of packets that most controllers have room for.
private let usualPacketRoom = 8

/// A connection of an adapter.
package struct LinkState: Hashable, Sendable {
    /// The address of the other side; the lasting address as soon as it is known.
    package var address: DeviceAddress
    package var isEncrypted: Bool
    /// The controller's handle of the connection.
    package var connection: UInt16

    package init(address: DeviceAddress, isEncrypted: Bool, connection: UInt16 = 0) {
        self.address = address
        self.isEncrypted = isEncrypted
        self.connection = connection
    }
}
