package import PeripheralKit

/// The encoded fields of a machine's data, in the order of the field flags.
///
/// Each implementation of ``FitnessMachineData/visit(_:)`` defines a list of fields. The package uses the
/// list of fields to decode data, to encode data, and to derive the features.
public struct FitnessMachineFields: Sendable {
    /// The reader of the fields; `nil` while fields are written.
    private var reader: ByteReader?
    private var flags: UInt32 = 0
    /// The flags of the field groups that are written.
    ///
    /// `bytes` contains the bytes of each group.
    private var written: [UInt32] = []
    private var bytes: [[UInt8]] = []

    /// The bits of the Fitness Machine Features for the fields.
    private(set) var features: UInt32 = 0
    /// The features of the fields to write.
    private var reported: UInt32 = .max

    /// The flag More Data.
    ///
    /// The field of the flag is present when the flag is not set.
    private static let moreData: UInt32 = 1

    /// Begins to write the fields for these bits of the Fitness Machine Features.
    init(reporting features: UInt32) {
        reported = features
    }

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

    /// The remaining bytes after all fields were read.
    package var rest: ByteReader {
        reader ?? ByteReader([])
    }

    /// Begins the field group of a flag, and returns whether the group is present.
    ///
    /// Values that are read or written next belong to this group.
    package mutating func begin(_ flag: Int, feature: Int? = nil, if isPresent: Bool) -> Bool {
        let bit: UInt32 = 1 << flag
        guard reader == nil else { return (flags & bit != 0) != (bit == Self.moreData) }
        let feature: UInt32 = feature.map { 1 << $0 } ?? 0
        guard isPresent, feature & ~reported == 0 else { return false }
        features |= feature
        written.append(bit)
        bytes.append([])
        return true
    }

    /// Reads or writes a flag that is itself the value.
    package mutating func state(_ flag: Int, _ isSet: inout Bool) {
        if reader != nil {
            isSet = flags & 1 << flag != 0
        } else if isSet {
            flags |= 1 << flag
        }
    }

    /// Reads or writes a number of the current group.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - format: The encoding of the number.
    ///   - mayBeUnknown: Whether the largest integer represents an unknown number.
    /// - Throws: `GATTDecodingError` when bytes are missing.
    package mutating func number(
        _ number: inout Double?,
        _ format: FitnessMachineFormat,
        mayBeUnknown: Bool = false
    ) throws(GATTDecodingError) {
        if let bytes = try reader?.readBytes(format.size) {
            let integer = format.integer(bytes[...])
            number = mayBeUnknown && integer == format.maximum ? nil : Double(integer) / format.one
        } else {
            let limit = mayBeUnknown ? format.maximum : .max
            let missing = mayBeUnknown ? format.maximum : 0
            let integer = number.map { format.integer($0, below: limit) } ?? missing
            bytes[bytes.count - 1] += format.bytes(integer)
        }
    }

    /// Reads or writes an integer of the current group.
    package mutating func number(
        _ number: inout Int?,
        _ format: FitnessMachineFormat,
        mayBeUnknown: Bool = false
    ) throws(GATTDecodingError) {
        var value = number.map { Double($0) }
        try self.number(&value, format, mayBeUnknown: mayBeUnknown)
        // A number that was written may be too large to convert.
        if reader != nil { number = value.map { Int($0) } }
    }

    /// Reads or writes a number that has a separate flag.
    package mutating func field(
        _ flag: Int,
        feature: Int? = nil,
        _ number: inout Double?,
        _ format: FitnessMachineFormat
    ) throws(GATTDecodingError) {
        if begin(flag, feature: feature, if: number != nil) { try self.number(&number, format) }
    }

    /// Reads or writes an integer that has a separate flag.
    package mutating func field(
        _ flag: Int,
        feature: Int? = nil,
        _ number: inout Int?,
        _ format: FitnessMachineFormat
    ) throws(GATTDecodingError) {
        if begin(flag, feature: feature, if: number != nil) { try self.number(&number, format) }
    }

    /// The written fields, divided into values of a maximum length.
    ///
    /// The last value has the field that each measurement must have. The other values have the flag More Data
    /// (Fitness Machine Service 1.0, section 4.19).
    func values(of machine: FitnessMachineKind, upTo maximum: Int) -> [[UInt8]] {
        var values: [[UInt8]] = []
        var flags = flags | Self.moreData
        var value: [UInt8] = []
        func finish() {
            values.append(
                (0..<machine.flagsSize).map { UInt8(truncatingIfNeeded: flags >> ($0 * 8)) } + value
            )
            (flags, value) = (self.flags | Self.moreData, [])
        }
        let last = written.indices.filter { written[$0] == Self.moreData }
        for index in written.indices.filter({ written[$0] != Self.moreData }) + last {
            let size = machine.flagsSize + value.count + bytes[index].count
            if size > maximum, !value.isEmpty { finish() }
            if written[index] == Self.moreData {
                flags &= ~Self.moreData
                value = bytes[index] + value
            } else {
                flags |= written[index]
                value += bytes[index]
            }
        }
        finish()
        return values
    }
}
