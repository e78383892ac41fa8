/// The reason why the connection of a central has ended.
///
/// ```swift
/// for await event in session.events {
///     guard case .disconnected(let central, let reason) = event else { continue }
///     if reason.cause == .timeout { print("\(central) is out of range.") }
/// }
/// ```
public struct DisconnectionReason: Hashable, Sendable {
    /// The kind of a reason.
    public enum Cause: Hashable, Sendable {
        /// The link was lost: the central is out of range, has no power, or no longer answers.
        case timeout
        /// The central has ended the connection.
        case central
        /// This device has ended the connection.
        ///
        /// The program, another program or the Bluetooth stack has ended it. For example, BlueZ ends the
        /// connection of a central that does not confirm an indication.
        case device
        /// The two sides could not authenticate each other, or could not encrypt the connection.
        case security
        /// ``DisconnectionReason/code`` contains another reason.
        case other
        /// The Bluetooth stack does not report the reason.
        ///
        /// The reason is also unknown if the peripheral goes off the air while a central is connected.
        case unknown
    }

    /// The kind of the reason.
    public let cause: Cause

    /// The code that the controller has reported, or `nil` if the Bluetooth stack does not report the code.
    ///
    /// The Core Specification lists the codes in Vol 1, Part F.
    public let code: UInt8?

    /// Creates a reason.
    ///
    /// Use this initializer only in backends and tests.
    public init(_ cause: Cause, code: UInt8? = nil) {
        (self.cause, self.code) = (cause, code)
    }

    /// Creates a reason from the code that a controller has reported.
    ///
    /// Use this initializer only in backends and tests.
    public init(code: UInt8) {
        let cause: Cause =
            switch code {
            // A connection time-out, a response time-out, or a connection that never had a packet.
            case 0x08, 0x22, 0x3E: .timeout
            // The other side has no more resources, powers off, or refuses a property of the connection.
            case 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B: .central
            case 0x16: .device
            case 0x05, 0x06, 0x25, 0x2F, 0x3D: .security
            default: .other
            }
        self.init(cause, code: code)
    }

    /// The reason of a connection whose end is not explained.
    public static let unknown = DisconnectionReason(.unknown)
}

extension DisconnectionReason: CustomStringConvertible {
    /// A text such as `the link was lost (0x08)`.
    public var description: String {
        let text =
            switch cause {
            case .timeout: "the link was lost"
            case .central: "by the central"
            case .device: "by this device"
            case .security: "authentication or encryption failed"
            case .other: "another reason"
            case .unknown: "unknown"
            }
        guard let code else { return text }
        return "\(text) (0x\(code < 16 ? "0" : "")\(String(code, radix: 16, uppercase: true)))"
    }
}
