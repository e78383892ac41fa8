import Glibc

/// The socket of a service manager, to which programs report their state.
package final class NotificationListener: Sendable {
    /// Its name in the abstract namespace.
    package let address: String
    private let descriptor: CInt

    package init() throws {
        address = "@peripheral-test-\(getpid())-\(UInt64.random(in: .min ... .max))"
        descriptor = socket(
            AF_UNIX,
            CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0
        )
        var own = sockaddr_un()
        own.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &own.sun_path) { $0.copyBytes(from: [0] + address.utf8.dropFirst()) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
        let outcome = withUnsafePointer(to: &own) { own in
            own.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard outcome == 0 else { throw CannotListen(number: errno) }
    }

    deinit { close(descriptor) }

    /// The next message, or `nil` if no message waits.
    package func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Waits for messages until the last one, and returns them all.
    package func told(until isLast: (String) -> Bool) async throws -> [String] {
        var told: [String] = []
        try await until {
            guard let message = next() else { return false }
            told.append(message)
            return isLast(message)
        }
        return told
    }

    struct CannotListen: Error {
        var number: CInt
    }
}
