public import PeripheralKit

/// The condition under which a change of an input counts.
///
/// This type represents the value of the Value Trigger Setting descriptor, 0x290A (Automation IO Service 1.0,
/// section 3.1). Quotations are from the definition of the descriptor. The definition says for each condition
/// when "the state is changed".
public enum AutomationValueTrigger: Hashable, Sendable {
    /// Every change.
    case changed
    /// A change of an analog input from one side of the bound to the other.
    ///
    /// The value changes "from less than to greater than" the bound, "or from greater than to less than" the
    /// bound. A value equal to the bound is not a crossing. Values equal to the bound may occur during a
    /// crossing.
    case crosses(UInt16)
    /// A change of an analog input to or from equality with the bound.
    ///
    /// Each of these changes counts:
    ///
    /// - "from less than to equal to" the bound
    /// - "from greater than to equal to" the bound
    /// - "from equal to to less than or greater than" the bound
    case reachesOrLeaves(UInt16)
    /// A change of an analog input by more than the given difference.
    ///
    /// The difference is relative to the value at the last change that counted.
    case changesByMoreThan(UInt16)
    /// A change of a digital input whose bit is set in the given mask.
    case changesAny(of: [UInt8])
    /// A change of an analog input from between the two bounds to outside them.
    ///
    /// Analog One is the upper bound, and Analog Two is the lower bound. Before the change, the value is
    /// "less than" the upper bound "and greater than" the lower bound. The value changes "to greater than"
    /// the upper bound "or less than" the lower bound. Values equal to a bound may occur during the change.
    ///
    /// A change from outside the bounds to inside does not count. Swapped bounds have the same meaning.
    case leavesBounds(upper: UInt16, lower: UInt16)
    /// A change of an analog input "from equal to" either bound "to any other value".
    ///
    /// The bounds are Analog One and Analog Two.
    case leavesEither(UInt16, or: UInt16)
    /// No change: only the time trigger counts.
    ///
    /// "It can be used for example when the value of one or more characteristic should not cause indication
    /// or notification of the Aggregate characteristic."
    case never
}

extension AutomationValueTrigger: GATTValue {
    /// Reads a condition and its operands.
    ///
    /// - Throws: `GATTDecodingError`, also for a reserved condition.
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

    /// Appends the condition and its operands.
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

/// The time at which an input is sent.
///
/// This type represents the value of the Time Trigger Setting descriptor, 0x290E (Automation IO Service 1.0,
/// section 3.1). The maximum interval is 16,777,215 seconds. A longer interval is sent as the maximum.
public enum AutomationTimeTrigger: Hashable, Sendable {
    /// At each change that counts.
    case none
    /// Once in the given number of seconds, even if the value has not changed.
    case every(seconds: UInt32)
    /// At a change that counts, but at most once in the given number of seconds.
    case atMostEvery(seconds: UInt32)
    /// At every n-th change that counts.
    case everyChanges(UInt16)
}

extension AutomationTimeTrigger: GATTValue {
    /// Reads a condition and its operand.
    ///
    /// - Throws: `GATTDecodingError`, also for a reserved condition.
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

    /// Appends the condition and its operand.
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
