public import PeripheralKit

/// What change of an input is worth to be sent: the value of the Value Trigger Setting, 0x290A (Automation IO Service 1.0,
/// section 3.1).
public enum AutomationValueTrigger: Hashable, Sendable {
    /// Every change.
    case changed
    /// A change from one side of the bound to the other, or to the bound; of an analog input.
    case crosses(UInt16)
    /// A change to the bound; of an analog input.
    case reaches(UInt16)
    /// A change by more than this since the last value that was sent; of an analog input.
    case changesByMoreThan(UInt16)
    /// A change of one of the states whose bits are set; of digital inputs.
    case changesAny(of: [UInt8])
    /// A change from inside of the bounds to outside, or back; of an analog input.
    case crossesBounds(UInt16, UInt16)
    /// A change to one of the bounds; of an analog input.
    case reachesBounds(UInt16, UInt16)
    /// None: only the time counts.
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
        case 2: self = .reaches(try reader.read())
        case 3: self = .changesByMoreThan(try reader.read())
        case 4: self = .changesAny(of: reader.readRemaining())
        case 5: self = .crossesBounds(try reader.read(), try reader.read())
        case 6: self = .reachesBounds(try reader.read(), try reader.read())
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
        case .reaches(let bound):
            writer.write(2 as UInt8)
            writer.write(bound)
        case .changesByMoreThan(let difference):
            writer.write(3 as UInt8)
            writer.write(difference)
        case .changesAny(let mask):
            writer.write(4 as UInt8)
            writer.write(mask)
        case .crossesBounds(let lower, let upper):
            writer.write(5 as UInt8)
            writer.write(lower)
            writer.write(upper)
        case .reachesBounds(let lower, let upper):
            writer.write(6 as UInt8)
            writer.write(lower)
            writer.write(upper)
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
