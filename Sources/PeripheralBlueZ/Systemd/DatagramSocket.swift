internal import Glibc
internal import PeripheralDBus

/// A socket that sends datagrams to another socket of this machine without waiting.
struct DatagramSocket {
    private let own: OwnedFileDescriptor

    /// Connects to a socket.
    ///
    /// The result is `nil` for any other address, and if no socket listens at the address.
    ///
    /// - Parameter address: A path, or a name in the abstract namespace that begins with `@`.
    init?(to address: String) {
        guard var peer = sockaddr_un(address: address) else { return nil }
        let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        own = OwnedFileDescriptor(adopting: descriptor)
        // The length marks the end of an abstract name.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
        let outcome = unsafe withUnsafePointer(to: &peer) { peer in
            unsafe peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                unsafe connect(descriptor, peer, length)
            }
        }
        guard outcome == 0 else { return nil }
    }

    /// Sends a datagram.
    ///
    /// - Returns: `false` if there is no room for the datagram now. A datagram that can never be sent counts
    ///   as sent.
    func send(_ text: String) -> Bool {
        var text = text
        let sent = text.withUTF8 { text in
            unsafe Glibc.send(own.descriptor, text.baseAddress, text.count, CInt(MSG_NOSIGNAL))
        }
        return sent >= 0 || ![EAGAIN, EINTR, ENOBUFS, ENOMEM].contains(errno)
    }
}

extension sockaddr_un {
    /// Creates an address from a path, or from a name in the abstract namespace that begins with `@`.
    fileprivate init?(address: String) {
        self.init()
        let bytes = Array(address.utf8)
        guard let first = bytes.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first),
            bytes.count < MemoryLayout.size(ofValue: sun_path)
        else { return nil }
        sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &sun_path) { path in
            unsafe path.copyBytes(from: bytes)
            if first == UInt8(ascii: "@") { unsafe path[0] = 0 }
        }
    }
}
