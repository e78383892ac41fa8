public import PeripheralKit
private import Synchronization

/// A report that an input device and a host exchange.
///
/// The report map of the ``HIDService`` describes the format of the report.
///
/// ```swift
/// let volume = HIDReport.input(id: 2, length: 1)
/// let consumerControl = HIDService(reportMap: reportMap, reports: [volume])
/// try await volume.send([0x01], in: session)
/// ```
public struct HIDReport: Sendable {
    /// The direction of a report.
    public enum Kind: UInt8, Hashable, Sendable {
        /// A report from the device to the host.
        case input = 1
        /// A report from the host to the device.
        case output = 2
        /// A device setting that the host reads and writes.
        case feature = 3
    }

    /// The direction of the report.
    public let kind: Kind

    /// The report ID from the report map, or 0 if there are no report IDs.
    public let id: UInt8

    /// The Report characteristic, 0x2A4D, which contains the bytes of the report without the report ID.
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
            // Identifies the report in the report map.
            Descriptor<[UInt8]>(.reportReference, value: [id, kind.rawValue], security: security)
        }
    }

    /// Declares an input report, which the device sends to the host.
    ///
    /// - Parameters:
    ///   - id: The report ID from the report map, or 0 if the report map contains no report IDs.
    ///   - length: The number of bytes in the report without the report ID, 1 to 512. Until the device sends
    ///     the first report, hosts read zeros.
    ///   - security: The security required to read the report and to subscribe to the report. The HID over
    ///     GATT profile requires at least encryption.
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

    /// Declares an output report, which the host sends to the device.
    ///
    /// The host can write the report with a response or without a response.
    ///
    /// - Parameters:
    ///   - id: The report ID from the report map, or 0 if the report map contains no report IDs.
    ///   - length: The number of bytes in the report without the report ID, 1 to 512. The service refuses a
    ///     report if its length differs from the declared length. Until a host writes the first report, hosts
    ///     read zeros.
    ///   - security: The security required to read and write the report. The HID over GATT profile requires
    ///     at least encryption.
    ///   - handler: Handles the report. If the handler throws an error, the service refuses the report and
    ///     logs the error. A host that writes without a response does not receive the error.
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

    /// Declares a feature report, which contains a setting of the device.
    ///
    /// - Parameters:
    ///   - id: The report ID from the report map, or 0 if the report map contains no report IDs.
    ///   - length: The number of bytes in the report without the report ID, 1 to 512. The service refuses a
    ///     report if its length differs from the declared length.
    ///   - security: The security required to read and write the report. The HID over GATT profile requires
    ///     at least encryption.
    ///   - read: Returns the bytes of the setting.
    ///   - write: Applies the setting. If the closure throws an error, the service refuses the setting.
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

    /// Sends an input report to all subscribed hosts, and stores the report for later reads.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the report without the report ID. The number of bytes must equal the declared
    ///     length of the report.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws. For an output or feature report, the method throws
    ///   a `PeripheralError` with the code `notDeclared`. For a report of the wrong length, the method throws
    ///   a `PeripheralError` with the code `invalidValue`.
    public func send(_ bytes: [UInt8], in session: PeripheralSession) async throws {
        try keep(bytes, in: session)
        try await session.notify(value, bytes)
    }

    /// Stores an input report for hosts that read it.
    ///
    /// - Throws: The errors of ``send(_:in:)``.
    func keep(_ bytes: [UInt8], in session: PeripheralSession) throws {
        // Called for the error that it throws when this is not an input report.
        _ = try session.subscribers(of: value)
        if let last, last.bytes.count == bytes.count { last.bytes = bytes }
    }
}

/// The last report that was exchanged.
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
