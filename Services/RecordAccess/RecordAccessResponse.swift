public import PeripheralKit

/// What a Record Access Control Point indicates when an operation is over.
public enum RecordAccessResponse: Hashable, Sendable {
    /// How many records there are: the answer to ``RecordAccessOperation/reportNumber``.
    case number(UInt16)

    /// How an operation has ended.
    case result(RecordAccessResult, of: RecordAccessOperation)
}

/// How an operation on records has ended: the response code values of the Record Access Control Point.
public struct RecordAccessResult: Hashable, Sendable {
    /// The value as it is on the air.
    public var rawValue: UInt8

    /// Makes a result, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It was carried out.
    public static let success = RecordAccessResult(rawValue: 0x01)
    /// The operation is not supported.
    public static let operationNotSupported = RecordAccessResult(rawValue: 0x02)
    /// The operator makes no sense with this operation.
    public static let invalidOperator = RecordAccessResult(rawValue: 0x03)
    /// The operator is not supported.
    public static let operatorNotSupported = RecordAccessResult(rawValue: 0x04)
    /// The operand makes no sense with this operator.
    public static let invalidOperand = RecordAccessResult(rawValue: 0x05)
    /// There are no such records.
    public static let noRecordsFound = RecordAccessResult(rawValue: 0x06)
    /// What is under way could not be ended.
    public static let abortUnsuccessful = RecordAccessResult(rawValue: 0x07)
    /// The operation could not be completed.
    public static let procedureNotCompleted = RecordAccessResult(rawValue: 0x08)
    /// Records cannot be chosen by this filter.
    public static let operandNotSupported = RecordAccessResult(rawValue: 0x09)
}

extension RecordAccessResponse: GATTValue {
    private static let numberCode: UInt8 = 0x05
    private static let resultCode: UInt8 = 0x06

    /// Reads a number of records, or a response code.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        let operatorCode: UInt8 = try reader.read()
        guard operatorCode == RecordOperator.null else {
            throw .invalidValue("a response has the operator 0, not \(operatorCode)")
        }
        switch code {
        case Self.numberCode:
            self = .number(try reader.read())
        case Self.resultCode:
            let operation = RecordAccessOperation(rawValue: try reader.read())
            self = .result(RecordAccessResult(rawValue: try reader.read()), of: operation)
        default:
            throw .invalidValue("\(code) is no response")
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
