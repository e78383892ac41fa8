package import PeripheralKit

/// The fields of a machine's data as they are on the air, in the order of their flags.
///
/// One list of the fields, in ``FitnessMachineData/visit(_:)``, serves for reading, for writing, and to tell the features.
public struct FitnessMachineFields: Sendable {
    /// What is read; `nil` while fields are written.
    private var reader: ByteReader?
    private var flags: UInt32 = 0
    private var groups: [Group] = []

    /// The bits of the Fitness Machine Features that the fields stand for.
    private(set) var features: UInt32 = 0

    /// What one flag stands for.
    private struct Group {
        var flag: UInt32
        var bytes: [UInt8] = []
    }

    /// The flag of what is there unless there is more data.
    private static let moreData: UInt32 = 1

    /// Begins to write.
    init() {}

    /// Begins to read.
    package init(
        reading reader: ByteReader,
        of machine: FitnessMachineKind
    ) throws(GATTDecodingError) {
        var reader = reader
        for (index, byte) in try reader.readBytes(machine.flagsSize).enumerated() {
            flags |= UInt32(byte) << (index * 8)
        }
        self.reader = reader
    }

    /// What is left when all fields have been read.
    package var rest: ByteReader {
        reader ?? ByteReader([])
    }

    /// Tells whether there is what a flag stands for; what is written thereafter belongs to it.
    package mutating func begin(_ flag: Int, feature: Int? = nil, if isPresent: Bool) -> Bool {
        let bit: UInt32 = 1 << flag
        guard reader == nil else { return (flags & bit != 0) != (bit == Self.moreData) }
        guard isPresent else { return false }
        groups.append(Group(flag: bit))
        if let feature { features |= 1 << feature }
        return true
    }

    /// Reads or writes a flag that stands for itself.
    package mutating func state(_ flag: Int, _ isSet: inout Bool) {
        if reader != nil {
            isSet = flags & 1 << flag != 0
        } else if isSet {
            flags |= 1 << flag
        }
    }

    /// Reads or writes a number of what has been begun.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - format: How it is written.
    ///   - mayBeUnknown: Whether the largest integer says that the number is not known.
    /// - Throws: `GATTDecodingError` when bytes are missing.
    package mutating func number(
        _ number: inout Double?,
        _ format: FitnessMachineFormat,
        mayBeUnknown: Bool = false
    ) throws(GATTDecodingError) {
        if let bytes = try reader?.readBytes(format.size) {
            let integer = format.integer(bytes)
            number = mayBeUnknown && integer == format.maximum ? nil : Double(integer) / format.one
        } else {
            let limit = mayBeUnknown ? format.maximum : .max
            let missing = mayBeUnknown ? format.maximum : 0
            let integer = number.map { format.integer($0, below: limit) } ?? missing
            groups[groups.count - 1].bytes += format.bytes(integer)
        }
    }

    /// Reads or writes a whole number of what has been begun.
    package mutating func number(
        _ number: inout Int?,
        _ format: FitnessMachineFormat,
        mayBeUnknown: Bool = false
    ) throws(GATTDecodingError) {
        var value = number.map { Double($0) }
        try self.number(&value, format, mayBeUnknown: mayBeUnknown)
        // What is written may be too large to come back.
        if reader != nil { number = value.map { Int($0) } }
    }

    /// Reads or writes a number with a flag of its own.
    package mutating func field(
        _ flag: Int,
        feature: Int? = nil,
        _ number: inout Double?,
        _ format: FitnessMachineFormat
    ) throws(GATTDecodingError) {
        if begin(flag, feature: feature, if: number != nil) { try self.number(&number, format) }
    }

    /// Reads or writes a whole number with a flag of its own.
    package mutating func field(
        _ flag: Int,
        feature: Int? = nil,
        _ number: inout Int?,
        _ format: FitnessMachineFormat
    ) throws(GATTDecodingError) {
        if begin(flag, feature: feature, if: number != nil) { try self.number(&number, format) }
    }

    /// What has been written, in as many values as it takes when each has at most so many bytes.
    ///
    /// The last has what is there in every measurement; those before it say that there is more data (Fitness Machine Service
    /// 1.0, section 4.19).
    func values(of machine: FitnessMachineKind, upTo maximum: Int) -> [[UInt8]] {
        var parts: [[Group]] = [[]]
        var size = machine.flagsSize
        let basis = groups.filter { $0.flag == Self.moreData }
        for group in groups.filter({ $0.flag != Self.moreData }) + basis {
            if size + group.bytes.count > maximum, size > machine.flagsSize {
                parts.append([])
                size = machine.flagsSize
            }
            parts[parts.count - 1].append(group)
            size += group.bytes.count
        }
        return parts.map { value(of: machine, $0) }
    }

    private func value(of machine: FitnessMachineKind, _ groups: [Group]) -> [UInt8] {
        // The flag is set when what it stands for is missing.
        let flags = groups.reduce(flags | Self.moreData) { $0 ^ $1.flag }
        var bytes = (0..<machine.flagsSize).map { UInt8(truncatingIfNeeded: flags >> ($0 * 8)) }
        for group in groups where group.flag == Self.moreData { bytes += group.bytes }
        for group in groups where group.flag != Self.moreData { bytes += group.bytes }
        return bytes
    }
}
