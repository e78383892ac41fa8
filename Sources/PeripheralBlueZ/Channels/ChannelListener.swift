/// An open listener for L2CAP channels.
///
/// The object belongs to an event loop. The listener closes with its last reference, or with ``close()``.
package protocol ChannelListener: AnyObject {
    /// The number of the listener.
    var psm: UInt16 { get }

    /// Stops accepting channels. Open channels stay open.
    func close()
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
