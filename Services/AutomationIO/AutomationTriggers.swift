public import PeripheralKit

/// The condition that a change of an input must meet to cause a notification.
///
/// `AutomationValueTrigger` represents the value of the Value Trigger Setting descriptor, 0x290A (Automation
/// IO Service 1.0, section 3.1). The specification defines which changes of an input meet each condition.
public enum AutomationValueTrigger: Hashable, Sendable {
    /// Every change of an input.
    case changed
    /// The value of an analog input crosses the given bound.
    ///
    /// The value can cross the bound in either direction. A value that only reaches the bound does not meet
    /// the condition. An input can cross the bound in two steps. First, the value becomes equal to the bound.
    /// Then the value changes to the other side of the bound.
    case crosses(UInt16)
    /// An analog input reaches the given bound, or leaves the bound.
    ///
    /// Each of the following changes meets the condition:
    ///
    /// - The value was less than the bound, and is now equal to the bound.
    /// - The value was greater than the bound, and is now equal to the bound.
    /// - The value was equal to the bound, and is now less than or greater than the bound.
    case reachesOrLeaves(UInt16)
    /// A change of an analog input by more than the given difference.
    ///
    /// When a change meets the condition, the service stores the new value of the input. The service compares
    /// each later value with the stored value.
    case changesByMoreThan(UInt16)
    /// A change of any digital input that the given mask selects.
    case changesAny(of: [UInt8])
    /// The value of an analog input leaves the range between two bounds.
    ///
    /// The specification calls the upper bound Analog One and the lower bound Analog Two. Before the change,
    /// the value is less than the upper bound and greater than the lower bound. After the change, the value
    /// is either greater than the upper bound or less than the lower bound. During the change, the value can
    /// temporarily be equal to a bound.
    ///
    /// A change from outside the bounds to inside the bounds does not meet the condition. The order of the
    /// two bounds has no effect.
    case leavesBounds(upper: UInt16, lower: UInt16)
    /// A change of an analog input from a value that equals one of two bounds.
    ///
    /// The specification calls the two bounds Analog One and Analog Two.
    case leavesEither(UInt16, or: UInt16)
    /// A condition that is never met.
    ///
    /// With the `never` condition, only the time trigger can cause a notification.
    ///
    /// The specification proposes the `never` condition for an input that must not cause an update of the
    /// Aggregate characteristic.
    case never
}

extension AutomationValueTrigger: GATTValue {
    /// Reads a condition and the operands of the condition.
    ///
    /// - Throws: `GATTDecodingError` if the bytes are incomplete, or if the condition is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let condition: UInt8 = try reader.read()
        switch condition {
        case 0: self = .changed
        case 1: self = .crosses(try reader.read())
        case 2: self = .reachesOrLeaves(try reader.read())
        case 3: self = .changesByMoreThan(try reader.read())
        case 4: self = .changesAny(of: reader.readRemaining())
        case 5: self = .leavesBounds(upper: try reader.read(), lower: try reader.read())
        case 6: self = .leavesEither(try reader.read(), or: try reader.read())
        case 7: self = .never
        default: throw .invalidValue("\(condition) is not a value trigger condition; those are 0 through 7")
        }
    }

    /// Appends the condition and the operands of the condition.
    public func encode(into writer: inout ByteWriter) {
        switch self {
        case .changed:
            writer.write(0 as UInt8)
        case .crosses(let bound):
            writer.write(1 as UInt8)
            writer.write(bound)
        case .reachesOrLeaves(let bound):
            writer.write(2 as UInt8)
            writer.write(bound)
        case .changesByMoreThan(let difference):
            writer.write(3 as UInt8)
            writer.write(difference)
        case .changesAny(let mask):
            writer.write(4 as UInt8)
            writer.write(mask)
        case .leavesBounds(let upper, let lower):
            writer.write(5 as UInt8)
            writer.write(upper)
            writer.write(lower)
        case .leavesEither(let one, let other):
            writer.write(6 as UInt8)
            writer.write(one)
            writer.write(other)
        case .never:
            writer.write(7 as UInt8)
        }
    }
}

/// The trigger that determines when the service sends the value of an input.
///
/// `AutomationTimeTrigger` represents the value of the Time Trigger Setting descriptor, 0x290E (Automation IO
/// Service 1.0, section 3.1). The maximum interval is 16,777,215 seconds. A longer interval is encoded as the
/// maximum interval.
public enum AutomationTimeTrigger: Hashable, Sendable {
    /// Sends the value after each change that fulfills the condition of the ``AutomationValueTrigger``.
    case none
    /// Sends the value at intervals of the given number of seconds.
    ///
    /// The service sends the value even if the value has not changed.
    case every(seconds: UInt32)
    /// Sends the value after a change, at most once in the given number of seconds.
    ///
    /// Only a change that fulfills the condition of the ``AutomationValueTrigger`` can cause a notification.
    case atMostEvery(seconds: UInt32)
    /// Sends the value after the given number of changes.
    ///
    /// The service counts only the changes that fulfill the condition of the ``AutomationValueTrigger``.
    case everyChanges(UInt16)
}

extension AutomationTimeTrigger: GATTValue {
    /// Reads a condition and the operand of the condition.
    ///
    /// - Throws: `GATTDecodingError` if the bytes are incomplete, or if the condition is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let condition: UInt8 = try reader.read()
        switch condition {
        case 0: self = .none
        case 1: self = .every(seconds: try reader.readUInt24().rawValue)
        case 2: self = .atMostEvery(seconds: try reader.readUInt24().rawValue)
        case 3: self = .everyChanges(try reader.read())
        default: throw .invalidValue("\(condition) is not a time trigger condition; those are 0 through 3")
        }
    }

    /// Appends the condition and the operand of the condition.
    public func encode(into writer: inout ByteWriter) {
        switch self {
        case .none:
            writer.write(0 as UInt8)
        case .every(let seconds):
            writer.write(1 as UInt8)
            writer.write(UInt24(clamping: seconds))
        case .atMostEvery(let seconds):
            writer.write(2 as UInt8)
            writer.write(UInt24(clamping: seconds))
        case .everyChanges(let count):
            writer.write(3 as UInt8)
            writer.write(count)
        }
    }
}
