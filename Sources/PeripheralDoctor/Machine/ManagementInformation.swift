internal import Glibc
internal import PeripheralDBus

/// The facts about a controller that the kernel's management interface reports (BlueZ, doc/mgmt.rst).
package struct ManagementInformation: Hashable, Sendable {
    /// The number of the controller's HCI version.
    package var version: UInt8
    /// The company identifier of the controller's manufacturer.
    package var manufacturer: UInt16
    /// The settings that the controller supports, by their names in BlueZ's documentation.
    package var supported: [String]
    /// The settings that are on.
    package var current: [String]

    /// The answer of the kernel to a request for the information.
    package enum Answer: Hashable, Sendable {
        case information(ManagementInformation)
        /// The kernel has refused the request, with this status.
        case refused(status: UInt8)
        /// This program cannot use the management interface.
        case unavailable
    }

    /// The names of the settings, from bit 0 on.
    private static let settings = [
        "powered", "connectable", "fast-connectable", "discoverable", "bondable", "link-security", "ssp",
        "br/edr",
        "hs", "le", "advertising", "secure-conn", "debug-keys", "privacy", "configuration", "static-addr",
        "phy-configuration", "wide-band-speech", "cis-central", "cis-peripheral", "iso-broadcaster",
        "sync-receiver",
    ]
    /// The command Read Controller Information.
    private static let command: UInt16 = 0x0004
    private static let headerSize = 6

    /// The request for the information about a controller.
    static func request(for controller: UInt16) -> [UInt8] {
        [UInt8(command), 0, UInt8(controller & 0xFF), UInt8(controller >> 8), 0, 0]
    }

    /// Reads an event of the management interface.
    ///
    /// - Parameters:
    ///   - event: The event, with its header.
    ///   - controller: The number of the controller.
    /// - Returns: The answer, or `nil` if the event is no answer to the request for this controller.
    package static func answer(in event: [UInt8], from controller: UInt16) -> Answer? {
        func number(_ offset: Int, size: Int = 2) -> Int {
            event[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        // Command Complete, Command Status.
        guard event.count >= headerSize + 3, [1, 2].contains(number(0)), number(2) == Int(controller),
            number(headerSize) == Int(command)
        else { return nil }
        let status = event[headerSize + 2]
        // The address is in the first 6 bytes of the parameters.
        let parameters = headerSize + 3
        guard status == 0 else { return .refused(status: status) }
        guard number(0) == 1, event.count >= parameters + 17 else { return nil }
        return .information(
            ManagementInformation(
                version: event[parameters + 6],
                manufacturer: UInt16(number(parameters + 7)),
                supported: names(number(parameters + 9, size: 4)),
                current: names(number(parameters + 13, size: 4))
            )
        )
    }

    private static func names(_ bits: Int) -> [String] {
        (0..<32).filter { bits & 1 << $0 != 0 }.map { bit in
            settings.indices.contains(bit) ? settings[bit] : "bit \(bit)"
        }
    }
}

extension ManagementInformation {
    /// Asks the kernel.
    ///
    /// The request needs a Bluetooth socket, but no privilege.
    ///
    /// - Parameter controller: The number of the controller.
    /// - Returns: The answer.
    static func ask(about controller: UInt16) -> Answer {
        // AF_BLUETOOTH, BTPROTO_HCI.
        let kind = CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(31, kind, 1)
        guard descriptor >= 0 else { return .unavailable }
        let connection = OwnedFileDescriptor(adopting: descriptor)
        // struct sockaddr_hci: AF_BLUETOOTH, HCI_DEV_NONE, HCI_CHANNEL_CONTROL.
        let address: [UInt8] = [31, 0, 0xFF, 0xFF, 3, 0]
        let isBound = unsafe address.withUnsafeBytes { bytes in
            let pointer = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe bind(connection.descriptor, pointer, socklen_t(bytes.count)) == 0
        }
        let request = request(for: controller)
        guard isBound, unsafe write(connection.descriptor, request, request.count) == request.count else {
            return .unavailable
        }
        // Other events can arrive before the answer.
        for _ in 0..<100 {
            var state = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&state, 1, 1000) == 1 else { break }
            var event = [UInt8](repeating: 0, count: 512)
            let count = unsafe read(connection.descriptor, &event, event.count)
            guard count > 0 else { break }
            if let answer = answer(in: Array(event.prefix(count)), from: controller) { return answer }
        }
        return .unavailable
    }
}
