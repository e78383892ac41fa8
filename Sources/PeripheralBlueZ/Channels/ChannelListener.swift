package import PeripheralCore
package import PeripheralDBus
package import PeripheralKit

/// An open listener for L2CAP channels.
///
/// The object belongs to an event loop. The listener closes with its last reference, or with ``close()``.
package protocol ChannelListener: AnyObject {
    /// The number of the listener.
    var psm: UInt16 { get }
    /// The longest packet that the listener receives, in bytes.
    ///
    /// It is the declared length, unless the kernel has no room for such a packet.
    var mtu: Int { get }

    /// Stops passing on channels. Open channels stay open.
    func close()
}

/// A listener to open, and where it listens.
package struct ListenerRequest: Hashable, Sendable {
    package var listener: BackendListener
    /// The number; `nil` for any free number.
    package var psm: UInt16?
    /// The path of the adapter's object.
    package var adapter: ObjectPath
    /// The address of the adapter.
    package var address: DeviceAddress
}

/// The reason why a listener cannot be opened.
package enum ChannelListenerFailure: Error, Hashable {
    /// Another program has the number.
    case taken
    /// The program lacks the capability `CAP_NET_BIND_SERVICE`.
    case forbidden
    /// The program cannot open Bluetooth sockets.
    case noSockets
    /// The kernel has failed with this error number.
    case failed(Int32)
}
