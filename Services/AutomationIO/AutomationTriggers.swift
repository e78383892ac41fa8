public import PeripheralKit

/// What change of an input is worth to be sent: the value of the Value Trigger Setting, 0x290A (Automation IO Service 1.0,
/// section 3.1).
///
/// What is quoted is the definition of the descriptor, which says of each condition when "the state is changed".
public enum AutomationValueTrigger: Hashable, Sendable {
    /// Every change.
    case changed
    /// A change "from less than to greater than" the bound, "or from greater than to less than" it, with or without values
    /// that are equal to it in between, which are no crossing by themselves; of an analog input.
    case crosses(UInt16)
    /// A change "from less than to equal to" the bound, "or from greater than to equal to" it, "or from equal to to less than
    /// or greater than" it; of an analog input.
    case reachesOrLeaves(UInt16)
    /// A change by more than this since the last change that was; of an analog input.
    case changesByMoreThan(UInt16)
    /// A change of one of the states whose bits are set; of digital inputs.
    case changesAny(of: [UInt8])
    /// A change from "less than" the upper bound, Analog One, "and greater than" the lower one, Analog Two, "to greater than"
    /// the upper "or less than" the lower one, with or without values that are equal to one in between; of an analog input.
    ///
    /// The way back is none. Bounds that are the other way round are taken for the same.
    case leavesBounds(upper: UInt16, lower: UInt16)
    /// A change "from equal to" one of the two, Analog One and Analog Two, "to any other value"; of an analog input.
    case leavesEither(UInt16, or: UInt16)
    /// None: only the time counts. "It can be used for example when the value of one or more characteristic should not cause
    /// indication or notification of the Aggregate characteristic."
    case never
}

extension AutomationValueTrigger: GATTValue {
    /// Reads a condition and what belongs to it.
    ///
    /// - Throws: `GATTDecodingError` also for a condition that is reserved.
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
        default: throw .invalidValue("\(condition) is no condition of a value: 0 through 7 are")
        }
    }

    /// Appends the condition and what belongs to it.
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

/// When an input is sent: the value of the Time Trigger Setting, 0x290E (Automation IO Service 1.0, section 3.1).
///
/// There are up to 16,777,215 seconds; more are sent as these.
public enum AutomationTimeTrigger: Hashable, Sendable {
    /// At each change that is worth it.
    case none
    /// Once in so many seconds, changed or not.
    case every(seconds: UInt32)
    /// At a change that is worth it, but not more often than once in so many seconds.
    case atMostEvery(seconds: UInt32)
    /// At each so many-th change that is worth it.
    case everyChanges(UInt16)
}

extension AutomationTimeTrigger: GATTValue {
    /// Reads a condition and what belongs to it.
    ///
    /// - Throws: `GATTDecodingError` also for a condition that is reserved.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let condition: UInt8 = try reader.read()
        switch condition {
        case 0: self = .none
        case 1: self = .every(seconds: try reader.readUInt24().rawValue)
        case 2: self = .atMostEvery(seconds: try reader.readUInt24().rawValue)
        case 3: self = .everyChanges(try reader.read())
        default: throw .invalidValue("\(condition) is no condition of time: 0 through 3 are")
        }
    }

    /// Appends the condition and what belongs to it.
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
