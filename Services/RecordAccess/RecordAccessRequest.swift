public import PeripheralKit

/// A request that a central writes to a Record Access Control Point, 0x2A52.
///
/// The GATT Specification Supplement defines the request in its Record Access Control Point section.
///
/// ```swift
/// RecordAccessRequest.report(.all)
/// RecordAccessRequest.delete(.within(.sequenceNumber(1), .sequenceNumber(20)))
/// ```
///
/// The decoder accepts each request that contains at least two bytes. The service can therefore respond to
/// unknown requests.
public struct RecordAccessRequest: Hashable, Sendable {
    /// The requested operation.
    public var operation: RecordAccessOperation

    /// The encoded operator, which selects records.
    public var operatorCode: UInt8

    /// The operand: empty, or a filter type and one or two bounds.
    public var operand: [UInt8]

    /// Creates a request from an operation, an operator and an operand.
    ///
    /// The initializer also accepts requests that the specification does not define.
    public init(operation: RecordAccessOperation, operatorCode: UInt8, operand: [UInt8] = []) {
        self.operation = operation
        self.operatorCode = operatorCode
        self.operand = operand
    }

    private init(_ operation: RecordAccessOperation, _ selection: RecordSelection) {
        self.init(
            operation: operation,
            operatorCode: selection.operatorCode,
            operand: selection.operand
        )
    }

    /// Requests the selected records.
    public static func report(_ selection: RecordSelection) -> RecordAccessRequest {
        RecordAccessRequest(.report, selection)
    }

    /// Deletes the selected records.
    public static func delete(_ selection: RecordSelection) -> RecordAccessRequest {
        RecordAccessRequest(.delete, selection)
    }

    /// Requests the number of selected records.
    public static func reportNumber(_ selection: RecordSelection) -> RecordAccessRequest {
        RecordAccessRequest(.reportNumber, selection)
    }

    /// Ends the operation in progress.
    public static let abort = RecordAccessRequest(operation: .abort, operatorCode: RecordOperator.null)
}

extension RecordAccessRequest: GATTValue {
    /// Reads the operation, the operator and the operand.
    ///
    /// The operand extends to the end of the encoded request.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = RecordAccessOperation(rawValue: try reader.read())
        operatorCode = try reader.read()
        operand = reader.readRemaining()
    }

    /// Appends the operation, the operator and the operand.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(operatorCode)
        writer.write(operand)
    }
}

/// An operation on records, identified by the op code of a ``RecordAccessRequest``.
public struct RecordAccessOperation: Hashable, Sendable {
    /// The encoded op code.
    public var rawValue: UInt8

    /// Creates an operation.
    ///
    /// The initializer also accepts operations that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Sends the selected records.
    public static let report = RecordAccessOperation(rawValue: 0x01)
    /// Deletes the selected records.
    public static let delete = RecordAccessOperation(rawValue: 0x02)
    /// Ends the operation in progress.
    public static let abort = RecordAccessOperation(rawValue: 0x03)
    /// Counts the selected records.
    public static let reportNumber = RecordAccessOperation(rawValue: 0x04)
}

/// A selection of records, as defined by the operator and the operand of a ``RecordAccessRequest``.
public enum RecordSelection: Hashable, Sendable {
    /// All records.
    case all
    /// The oldest record.
    case first
    /// The newest record.
    case last
    /// The records up to and including a bound.
    case upTo(RecordBound)
    /// The records at a bound, and all later records.
    case from(RecordBound)
    /// The records between two bounds, including the records at the bounds.
    ///
    /// Both bounds must have the same type: sequence number or user-facing time.
    case within(RecordBound, RecordBound)

    var operatorCode: UInt8 {
        switch self {
        case .all: RecordOperator.all
        case .first: RecordOperator.first
        case .last: RecordOperator.last
        case .upTo: RecordOperator.upTo
        case .from: RecordOperator.from
        case .within: RecordOperator.within
        }
    }

    var operand: [UInt8] {
        switch self {
        case .all, .first, .last: []
        case .upTo(let bound), .from(let bound): [bound.filterType] + bound.value
        case .within(let lower, let upper): [lower.filterType] + lower.value + upper.value
        }
    }
}

/// A bound of a ``RecordSelection``.
public struct RecordBound: Hashable, Sendable {
    let filterType: UInt8
    let value: [UInt8]

    /// Creates a bound from a sequence number.
    public static func sequenceNumber(_ number: UInt16) -> RecordBound {
        RecordBound(filterType: 0x01, value: number.gattBytes)
    }

    /// Creates a bound from a user-facing time.
    ///
    /// The time is the user-facing time, which the device displays to the user.
    public static func userFacingTime(_ time: DateTime) -> RecordBound {
        RecordBound(filterType: 0x02, value: time.gattBytes)
    }
}

/// The encoded operators.
enum RecordOperator {
    static let null: UInt8 = 0x00
    static let all: UInt8 = 0x01
    static let upTo: UInt8 = 0x02
    static let from: UInt8 = 0x03
    static let within: UInt8 = 0x04
    static let first: UInt8 = 0x05
    static let last: UInt8 = 0x06
}
