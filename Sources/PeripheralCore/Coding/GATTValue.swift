/// A type that can encode and decode the value of a characteristic or a descriptor.
///
/// Integers in GATT values are little-endian (GATT Specification Supplement, 2.2). If a type has several
/// fields, decode and encode the fields in the same order:
///
/// ```swift
/// struct LampState: GATTValue {
///     var isOn: Bool
///     var brightness: UInt16
///
///     init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
///         isOn = try Bool(decoding: &reader)
///         brightness = try reader.read()
///     }
///
///     func encode(into writer: inout ByteWriter) {
///         isOn.encode(into: &writer)
///         writer.write(brightness)
///     }
/// }
/// ```
public protocol GATTValue: Sendable {
    /// Reads a value and advances the reader past the value's last byte.
    ///
    /// - Throws: ``GATTDecodingError`` when bytes are missing or when the bytes do not represent a valid
    ///   value.
    init(decoding reader: inout ByteReader) throws(GATTDecodingError)

    /// Appends the encoded bytes of the value.
    func encode(into writer: inout ByteWriter)
}

extension GATTValue {
    /// Decodes a value from all of the given bytes.
    ///
    /// - Throws: ``GATTDecodingError`` when bytes are missing, when bytes remain after the value, or when the
    ///   bytes do not represent a valid value.
    public init(gattBytes bytes: [UInt8]) throws(GATTDecodingError) {
        var reader = ByteReader(bytes)
        try self.init(decoding: &reader)
        guard reader.isAtEnd else {
            throw .trailingBytes(count: reader.remainingCount)
        }
    }

    /// The encoded bytes of the value.
    public var gattBytes: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
