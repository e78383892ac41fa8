public import PeripheralKit

/// A change of a sensor's descriptors.
///
/// This type represents the value of the Descriptor Value Changed characteristic, 0x2A7D (Environmental
/// Sensing Service 1.0, section 3.2).
public struct DescriptorValueChange: Hashable, Sendable {
    /// The source of a change, and the affected descriptors.
    public struct Changes: OptionSet, Hashable, Sendable {
        /// The encoded changes.
        public var rawValue: UInt16

        /// Creates a set of changes.
        ///
        /// Changes that the specification does not define are allowed.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// A central, not the device, has made the change.
        public static let byClient = Changes(rawValue: 1 << 0)
        /// One or more ES Trigger Settings have changed.
        public static let triggers = Changes(rawValue: 1 << 1)
        /// The ES Configuration has changed.
        public static let configuration = Changes(rawValue: 1 << 2)
        /// The ES Measurement has changed.
        public static let measurement = Changes(rawValue: 1 << 3)
        /// The user description has changed.
        public static let userDescription = Changes(rawValue: 1 << 4)
    }

    /// The source of the change, and the affected descriptors.
    public var changes: Changes

    /// The type of the characteristic that contains the descriptors.
    public var characteristic: BluetoothUUID

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - changes: The source of the change, and the affected descriptors.
    ///   - characteristic: The type of the characteristic.
    public init(_ changes: Changes, of characteristic: BluetoothUUID) {
        self.changes = changes
        self.characteristic = characteristic
    }
}

extension DescriptorValueChange: GATTValue {
    /// Reads 4 or 18 bytes.
    ///
    /// - Throws: `GATTDecodingError`, also when the type has neither 2 nor 16 bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        changes = Changes(rawValue: try reader.read())
        let type = reader.readRemaining()
        guard type.count != 4, let characteristic = BluetoothUUID(littleEndian: type) else {
            throw GATTDecodingError(code: .tooShort, message: "a type has 2 or 16 bytes, not \(type.count)")
        }
        self.characteristic = characteristic
    }

    /// Appends 4 or 18 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(changes.rawValue)
        writer.write(characteristic.attBytes)
    }
}
