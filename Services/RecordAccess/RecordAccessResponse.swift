public import PeripheralKit

/// The response of a Record Access Control Point at the end of an operation.
///
/// The control point sends the response as an indication.
public enum RecordAccessResponse: Hashable, Sendable {
    /// The number of records, which is the response to ``RecordAccessOperation/reportNumber``.
    case number(UInt16)

    /// The result of an operation.
    case result(RecordAccessResult, of: RecordAccessOperation)
}

/// The result of an operation of the Record Access Control Point.
///
/// A response code of the control point identifies the result.
public struct RecordAccessResult: Hashable, Sendable {
    /// The encoded value.
    public var rawValue: UInt8

    /// Creates a result.
    ///
    /// The initializer also accepts results that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The operation succeeded.
    public static let success = RecordAccessResult(rawValue: 0x01)
    /// The operation is not supported.
    public static let operationNotSupported = RecordAccessResult(rawValue: 0x02)
    /// The operator is not valid for the operation.
    public static let invalidOperator = RecordAccessResult(rawValue: 0x03)
    /// The operator is not supported.
    public static let operatorNotSupported = RecordAccessResult(rawValue: 0x04)
    /// The operand is not valid for the operator.
    public static let invalidOperand = RecordAccessResult(rawValue: 0x05)
    /// No record matches the selection.
    public static let noRecordsFound = RecordAccessResult(rawValue: 0x06)
    /// The service could not abort the operation in progress.
    public static let abortUnsuccessful = RecordAccessResult(rawValue: 0x07)
    /// The service could not complete the operation.
    public static let procedureNotCompleted = RecordAccessResult(rawValue: 0x08)
    /// The filter is not supported.
    public static let operandNotSupported = RecordAccessResult(rawValue: 0x09)
}

extension RecordAccessResponse: GATTValue {
    private static let numberCode: UInt8 = 0x05
    private static let resultCode: UInt8 = 0x06

    /// Reads a response that contains either the record count or the result of an operation.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        let operatorCode: UInt8 = try reader.read()
        guard operatorCode == RecordOperator.null else {
            throw .invalidValue("the operator of a response must be 0, not \(operatorCode)")
        }
        switch code {
        case Self.numberCode:
            self = .number(try reader.read())
        case Self.resultCode:
            let operation = RecordAccessOperation(rawValue: try reader.read())
            self = .result(RecordAccessResult(rawValue: try reader.read()), of: operation)
        default:
            throw .invalidValue("\(code) is not the op code of a response; the op codes are 5 and 6")
        }
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        switch self {
        case .number(let number):
            writer.write([Self.numberCode, RecordOperator.null])
            writer.write(number)
        case .result(let result, let operation):
            writer.write([Self.resultCode, RecordOperator.null, operation.rawValue, result.rawValue])
        }
    }
}
