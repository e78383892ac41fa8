public import PeripheralKit

/// What a machine measures, and what can be set: the value of the Fitness Machine Feature, 0x2ACC (Fitness Machine Service
/// 1.0, section 4.3).
public struct FitnessMachineFeature: Equatable, Sendable {
    /// The Fitness Machine Features: what is measured.
    public var machine: UInt32

    /// The Target Setting Features: what can be set.
    public var targetSettings: UInt32

    /// Makes features of their bits.
    public init(machine: UInt32, targetSettings: UInt32) {
        self.machine = machine
        self.targetSettings = targetSettings
    }
}

extension FitnessMachineFeature: GATTValue {
    /// Reads 8 bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        machine = try reader.read()
        targetSettings = try reader.read()
    }

    /// Appends 8 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(machine)
        writer.write(targetSettings)
    }
}
