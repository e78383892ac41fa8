public import PeripheralKit

/// A change to the descriptors of an ``EnvironmentalSensor``.
///
/// `DescriptorValueChange` represents the value of the Descriptor Value Changed characteristic, 0x2A7D
/// (Environmental Sensing Service 1.0, section 3.2).
public struct DescriptorValueChange: Hashable, Sendable {
    /// The source of a descriptor change, and the changed descriptors.
    public struct Changes: OptionSet, Hashable, Sendable {
        /// The encoded changes.
        public var rawValue: UInt16

        /// Creates a set of changes from encoded bits.
        ///
        /// The set can contain bits that the specification does not define.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The source of the change is a central, not the device.
        public static let byClient = Changes(rawValue: 1 << 0)
        /// One or more ES Trigger Setting descriptors have changed.
        public static let triggers = Changes(rawValue: 1 << 1)
        /// The ES Configuration descriptor has changed.
        public static let configuration = Changes(rawValue: 1 << 2)
        /// The ES Measurement descriptor has changed.
        public static let measurement = Changes(rawValue: 1 << 3)
        /// The User Description descriptor has changed.
        public static let userDescription = Changes(rawValue: 1 << 4)
    }

    /// The source of the descriptor change, and the changed descriptors.
    public var changes: Changes

    /// The UUID of the characteristic that contains the changed descriptors.
    public var characteristic: BluetoothUUID {
        didSet { checkUUID() }
    }

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - changes: The source of the descriptor change, and the changed descriptors.
    ///   - characteristic: The UUID of the characteristic that contains the changed descriptors. If it is a
    ///     malformed literal, the program stops with a fatal error.
    public init(_ changes: Changes, of characteristic: BluetoothUUID) {
        self.changes = changes
        self.characteristic = characteristic
        checkUUID()
    }

    private func checkUUID() {
        guard characteristic.malformedLiteral != nil else { return }
        // Unlike the message of a precondition, this message is printed in release builds too.
        fatalError("A DescriptorValueChange needs the UUID of a characteristic, but has \(characteristic).")
    }
}

extension DescriptorValueChange: GATTValue {
    /// Reads the flags from 2 bytes, and the UUID from 2 or 16 bytes.
    ///
    /// - Throws: `GATTDecodingError` if the flags are incomplete, or if the length of the UUID is not 2 or 16
    ///   bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        changes = Changes(rawValue: try reader.read())
        let type = reader.readRemaining()
        guard type.count != 4, let characteristic = BluetoothUUID(littleEndian: type) else {
            throw GATTDecodingError(code: .tooShort, message: "a UUID has 2 or 16 bytes, not \(type.count)")
        }
        self.characteristic = characteristic
    }

    /// Appends the flags in 2 bytes, and the UUID in 2 or 16 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(changes.rawValue)
        writer.write(characteristic.attBytes)
    }
}
