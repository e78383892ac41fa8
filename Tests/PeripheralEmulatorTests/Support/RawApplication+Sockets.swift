import Glibc
import PeripheralDBus
import Synchronization

extension RawApplication {
    /// Has `AcquireNotify` or `AcquireWrite` answered by a new socket each time.
    func handOverSockets(by method: String) {
        answer(method, .made { [self] in [.fileDescriptor(makeSocket()), .uint16(517)] })
    }

    /// Makes a pair of sockets, and records what comes through the first: its number and the bytes, or
    /// `closed`.
    ///
    /// - Returns: The second.
    private func makeSocket() -> OwnedFileDescriptor {
        var pair: [CInt] = [-1, -1]
        socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &pair)
        let own = OwnedFileDescriptor(adopting: pair[0])
        let number = sockets.withLock { sockets in
            sockets.append(own)
            return sockets.count - 1
        }
        let source = Source()
        source.source = connection.loop.watch(fileDescriptor: pair[0], events: .readable) { [calls] events in
            var bytes = [UInt8](repeating: 0, count: 600)
            let count = recv(pair[0], &bytes, bytes.count, 0)
            if count > 0 {
                calls.add("socket \(number): \(Array(bytes.prefix(count)).hexadecimal)")
            } else {
                calls.add("socket \(number): closed")
                source.source?.cancel()
            }
        }
        return OwnedFileDescriptor(adopting: pair[1])
    }

    /// Sends a message to bluetoothd.
    func send(_ message: [UInt8], through number: Int) {
        let socket = sockets.withLock { $0[number] }
        Glibc.send(socket.descriptor, message, message.count, CInt(MSG_NOSIGNAL))
    }

    /// Closes the application's end of a socket.
    func close(_ number: Int) {
        let socket = sockets.withLock { $0[number] }
        connection.loop.execute { shutdown(socket.descriptor, CInt(SHUT_RDWR)) }
    }

    private final class Source {
        var source: LoopSource?
    }
}
