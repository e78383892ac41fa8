package import PeripheralKit

/// The fields of a machine's data as they are on the air, in the order of their flags.
///
/// One list of the fields, in ``FitnessMachineData/visit(_:)``, serves for reading, for writing, and to tell the features.
public struct FitnessMachineFields: Sendable {
    /// What is read; `nil` while fields are written.
    private var reader: ByteReader?
    private var flags: UInt32 = 0
    /// What is written: the flag of each group of fields, and its bytes.
    private var written: [UInt32] = []
    private var bytes: [[UInt8]] = []

    /// The bits of the Fitness Machine Features that the fields stand for.
    private(set) var features: UInt32 = 0
    /// Those of them whose fields are written.
    private var told: UInt32 = .max

    /// The flag of what is there unless there is more data.
    private static let moreData: UInt32 = 1

    /// Begins to write what these bits of the Fitness Machine Features stand for.
    init(telling features: UInt32) {
        told = features
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

    /// What is left when all fields have been read.
    package var rest: ByteReader {
        reader ?? ByteReader([])
    }

    /// Tells whether there is what a flag stands for; what is written thereafter belongs to it.
    package mutating func begin(_ flag: Int, feature: Int? = nil, if isPresent: Bool) -> Bool {
        let bit: UInt32 = 1 << flag
        guard reader == nil else { return (flags & bit != 0) != (bit == Self.moreData) }
        let feature: UInt32 = feature.map { 1 << $0 } ?? 0
        guard isPresent, feature & ~told == 0 else { return false }
        features |= feature
        written.append(bit)
        bytes.append([])
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
            let integer = format.integer(bytes[...])
            number = mayBeUnknown && integer == format.maximum ? nil : Double(integer) / format.one
        } else {
            let limit = mayBeUnknown ? format.maximum : .max
            let missing = mayBeUnknown ? format.maximum : 0
            let integer = number.map { format.integer($0, below: limit) } ?? missing
            bytes[bytes.count - 1] += format.bytes(integer)
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
