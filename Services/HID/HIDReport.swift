public import PeripheralKit
private import Synchronization

/// A report of a ``HIDService``: what its device and its host exchange, in the form that the report map describes.
///
/// ```swift
/// let volume = HIDReport.input(id: 2, length: 1)
/// let consumerControl = HIDService(reportMap: reportMap, reports: [volume])
/// try await volume.send([0x01], in: session)
/// ```
public struct HIDReport: Sendable {
    /// Which way a report goes.
    public enum Kind: UInt8, Hashable, Sendable {
        /// From the device to the host.
        case input = 1
        /// From the host to the device.
        case output = 2
        /// Either way: a setting of the device.
        case feature = 3
    }

    /// Which way the report goes.
    public let kind: Kind

    /// The report's number in the report map; 0 in one without numbers.
    public let id: UInt8

    /// The Report, 0x2A4D: its bytes without its number.
    public let value: Characteristic<[UInt8]>

    private let last: LastReport?

    private init(
        _ kind: Kind,
        _ id: UInt8,
        _ length: Int,
        _ properties: CharacteristicProperties,
        last: LastReport?,
        security: AttributeSecurity,
        read: @escaping @Sendable () async throws -> [UInt8],
        write: (@Sendable (_ report: [UInt8], _ central: Central) async throws -> Void)?
    ) {
        (self.kind, self.id, self.last) = (kind, id, last)
        value = Characteristic(
            .report,
            properties.union(.read),
            security: security,
            length: .exactly(length)
        ) {
            Read(read)
            if let write { Write(write) }
            // Which report of the report map it is.
            Descriptor<[UInt8]>(.reportReference, value: [id, kind.rawValue], security: security)
        }
    }

    /// Declares a report that the device sends.
    ///
    /// - Parameters:
    ///   - id: The report's number in the report map; 0 in one without numbers.
    ///   - length: How many bytes the report has without its number, 1 to 512. Before anything is sent, hosts read zeros.
    ///   - security: What it takes to read and to subscribe: encryption at least, as the HID over GATT profile demands.
    /// - Returns: The report.
    public static func input(
        id: UInt8 = 0,
        length: Int,
        security: AttributeSecurity = .encrypted
    ) -> HIDReport {
        let last = LastReport(length: length)
        return HIDReport(
            .input,
            id,
            length,
            .notify,
            last: last,
            security: security,
            read: { last.bytes },
            write: nil
        )
    }

    /// Declares a report that the host sends, with or without waiting for the response.
    ///
    /// - Parameters:
    ///   - id: The report's number in the report map; 0 in one without numbers.
    ///   - length: How many bytes the report has without its number, 1 to 512. Another length is not taken. Before
    ///     anything is received, hosts read zeros.
    ///   - security: What it takes to read and write: encryption at least, as the HID over GATT profile demands.
    ///   - handler: Takes the report. What it throws is logged; a host that may write without response does not learn it.
    /// - Returns: The report.
    public static func output(
        id: UInt8 = 0,
        length: Int,
        security: AttributeSecurity = .encrypted,
        _ handler: @escaping @Sendable (_ report: [UInt8], _ central: Central) async throws -> Void
    ) -> HIDReport {
        output(id: id, length: length, last: LastReport(length: length), security: security, handler)
    }

    static func output(
        id: UInt8,
        length: Int,
        last: LastReport,
        security: AttributeSecurity,
        _ handler: @escaping @Sendable (_ report: [UInt8], _ central: Central) async throws -> Void
    ) -> HIDReport {
        HIDReport(
            .output,
            id,
            length,
            [.write, .writeWithoutResponse],
            last: nil,
            security: security,
            read: { last.bytes },
            write: {
                try await handler($0, $1)
                last.bytes = $0
            }
        )
    }

    /// Declares a setting of the device.
    ///
    /// - Parameters:
    ///   - id: The report's number in the report map; 0 in one without numbers.
    ///   - length: How many bytes the report has without its number, 1 to 512. Another length is refused.
    ///   - security: What it takes to read and write: encryption at least, as the HID over GATT profile demands.
    ///   - read: Tells the setting.
    ///   - write: Takes the setting. Throwing refuses it.
    /// - Returns: The report.
    public static func feature(
        id: UInt8 = 0,
        length: Int,
        security: AttributeSecurity = .encrypted,
        read: @escaping @Sendable () async throws -> [UInt8],
        write: @escaping @Sendable (_ report: [UInt8], _ central: Central) async throws -> Void
    ) -> HIDReport {
        HIDReport(.feature, id, length, .write, last: nil, security: security, read: read, write: write)
    }

    /// Sends an input report to all hosts that listen, and keeps it for those that read.
    ///
    /// - Parameters:
    ///   - bytes: The report without its number, of its length.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does: `PeripheralError` with the code `notDeclared` for an output or feature report,
    ///   and with `invalidValue` for another length.
    public func send(_ bytes: [UInt8], in session: PeripheralSession) async throws {
        try keep(bytes, in: session)
        try await session.notify(value, bytes)
    }

    /// Keeps an input report for hosts that read.
    ///
    /// - Throws: As ``send(_:in:)``.
    func keep(_ bytes: [UInt8], in session: PeripheralSession) throws {
        // Asked for what it throws where this is no input report.
        _ = try session.hasSubscribers(of: value)
        if let last, last.bytes.count == bytes.count { last.bytes = bytes }
    }
}

/// The report that was exchanged last.
final class LastReport: Sendable {
    private let state: Mutex<[UInt8]>

    init(length: Int) {
        state = Mutex([UInt8](repeating: 0, count: max(0, min(length, 512))))
    }

    var bytes: [UInt8] {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
