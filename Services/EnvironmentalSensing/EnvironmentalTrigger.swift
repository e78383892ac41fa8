public import PeripheralKit

/// A condition under which the service sends the value of a sensor.
///
/// `EnvironmentalTrigger` represents the value of the ES Trigger Setting descriptor, 0x290D (Environmental
/// Sensing Service 1.0, section 3.1).
///
/// The operand of a trigger is in the unit of the sensor's quantity. The maximum interval is 16,777,215
/// seconds. An interval above the maximum is encoded as the maximum.
public enum EnvironmentalTrigger: Hashable, Sendable {
    /// An inactive trigger, which never causes a notification.
    case inactive
    /// Sends the value at intervals of the given number of seconds.
    case every(seconds: UInt32)
    /// Sends the value at intervals of at least the given number of seconds.
    case atMostEvery(seconds: UInt32)
    /// Sends the value after each change of the value.
    case changed
    /// Sends each value that is less than the operand.
    case less(than: Double)
    /// Sends each value that is less than or equal to the operand.
    case lessOrEqual(to: Double)
    /// Sends each value that is greater than the operand.
    case greater(than: Double)
    /// Sends each value that is greater than or equal to the operand.
    case greaterOrEqual(to: Double)
    /// Sends each value that is equal to the operand.
    case equal(to: Double)
    /// Sends each value that is not equal to the operand.
    case notEqual(to: Double)
}

extension EnvironmentalTrigger {
    /// Reads a condition, and an operand in the format of the quantity.
    init(_ bytes: [UInt8], _ quantity: EnvironmentalQuantity) throws {
        guard let condition = bytes.first else { throw ATTError.invalidAttributeValueLength }
        let operand = Array(bytes.dropFirst())
        func value() throws -> Double {
            guard operand.count == quantity.encoding.size else { throw ATTError.invalidAttributeValueLength }
            // An unknown value or a value outside the range cannot be compared.
            guard let number = try? quantity.number(of: operand) else {
                throw ATTError.environmentalSensingWriteRequestRejected
            }
            return number
        }
        switch condition {
        case 0, 3:
            guard operand.isEmpty else { throw ATTError.invalidAttributeValueLength }
            self = condition == 0 ? .inactive : .changed
        case 1: self = .every(seconds: try UInt24(gattBytes: operand).rawValue)
        case 2: self = .atMostEvery(seconds: try UInt24(gattBytes: operand).rawValue)
        case 4: self = .less(than: try value())
        case 5: self = .lessOrEqual(to: try value())
        case 6: self = .greater(than: try value())
        case 7: self = .greaterOrEqual(to: try value())
        case 8: self = .equal(to: try value())
        case 9: self = .notEqual(to: try value())
        default: throw ATTError.environmentalSensingConditionNotSupported
        }
    }

    func bytes(_ quantity: EnvironmentalQuantity) -> [UInt8] {
        switch self {
        case .inactive: [0]
        case .every(let seconds): [1] + UInt24(clamping: seconds).gattBytes
        case .atMostEvery(let seconds): [2] + UInt24(clamping: seconds).gattBytes
        case .changed: [3]
        case .less(let value): [4] + quantity.bytes(of: value)
        case .lessOrEqual(let value): [5] + quantity.bytes(of: value)
        case .greater(let value): [6] + quantity.bytes(of: value)
        case .greaterOrEqual(let value): [7] + quantity.bytes(of: value)
        case .equal(let value): [8] + quantity.bytes(of: value)
        case .notEqual(let value): [9] + quantity.bytes(of: value)
        }
    }

    /// Returns whether to send a value; `nil` for an inactive trigger.
    ///
    /// - Parameters:
    ///   - value: The value; `nil` when unknown, for which no comparison is true.
    ///   - hasChanged: Whether the value differs from the previous value.
    ///   - elapsed: The time since a value was sent; `nil` if no value was sent.
    /// - Returns: Whether the trigger is met.
    func isMet(by value: Double?, hasChanged: Bool, elapsed: Duration?) -> Bool? {
        guard self != .inactive else { return nil }
        return compares(value) ?? (self == .changed ? hasChanged : isOver(elapsed))
    }

    /// Whether the value meets the comparison; `nil` for a trigger that does not compare values.
    private func compares(_ value: Double?) -> Bool? {
        switch self {
        case .inactive, .every, .atMostEvery, .changed: nil
        case .less(let bound): value.map { $0 < bound } ?? false
        case .lessOrEqual(let bound): value.map { $0 <= bound } ?? false
        case .greater(let bound): value.map { $0 > bound } ?? false
        case .greaterOrEqual(let bound): value.map { $0 >= bound } ?? false
        case .equal(let bound): value.map { $0 == bound } ?? false
        case .notEqual(let bound): value.map { $0 != bound } ?? false
        }
    }

    private func isOver(_ elapsed: Duration?) -> Bool {
        guard let elapsed else { return true }
        switch self {
        case .every(let seconds), .atMostEvery(let seconds): return elapsed >= .seconds(Int64(seconds))
        default: return true
        }
    }
}

/// The logic that combines the triggers of a sensor.
///
/// `EnvironmentalTriggerLogic` represents the value of the ES Configuration descriptor, 0x290B (Environmental
/// Sensing Service 1.0, section 3.1).
public enum EnvironmentalTriggerLogic: UInt8, Hashable, Sendable {
    /// The service sends a value if the conditions of all active triggers are met.
    case all = 0
    /// The service sends a value if the condition of any active trigger is met.
    case any = 1
}

extension EnvironmentalTriggerLogic: GATTValue {
    /// Reads one byte.
    ///
    /// - Throws: `GATTDecodingError` if the byte is missing, or if the value is above 1. Values above 1 are
    ///   reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let byte: UInt8 = try reader.read()
        guard let logic = EnvironmentalTriggerLogic(rawValue: byte) else {
            throw .invalidValue("\(byte) is not a trigger logic; the values are 0 (all) and 1 (any)")
        }
        self = logic
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}

extension ATTError {
    /// The error for an invalid value that a central writes to a sensor descriptor.
    ///
    /// The Environmental Sensing Service specification 1.0 defines the application error 0x80 as “Write
    /// Request Rejected”.
    public static let environmentalSensingWriteRequestRejected = ATTError(rawValue: 0x80)

    /// The error for a trigger condition that a sensor does not support.
    ///
    /// The Environmental Sensing Service specification 1.0 defines the application error 0x81 as “Condition
    /// not supported”.
    public static let environmentalSensingConditionNotSupported = ATTError(rawValue: 0x81)
}
