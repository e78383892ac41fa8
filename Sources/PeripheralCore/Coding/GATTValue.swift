/// A value of a characteristic or a descriptor, with its encoding and decoding.
///
/// GATT values are little-endian (GATT Specification Supplement, 2.2). A value with several fields decodes
/// and encodes its fields in the same order:
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
    /// Reads a value and advances the reader past its last byte.
    ///
    /// - Throws: ``GATTDecodingError`` when bytes are missing or their content is not allowed.
    init(decoding reader: inout ByteReader) throws(GATTDecodingError)

    /// Appends the value's bytes.
    func encode(into writer: inout ByteWriter)
}

extension GATTValue {
    /// Reads a value that occupies all of the bytes.
    ///
    /// - Throws: ``GATTDecodingError`` when bytes are missing, when bytes remain, or when their content is
    ///   not allowed.
    public init(gattBytes bytes: [UInt8]) throws(GATTDecodingError) {
        var reader = ByteReader(bytes)
        try self.init(decoding: &reader)
        guard reader.isAtEnd else {
            throw .trailingBytes(count: reader.remainingCount)
        }
    }

    /// The value's bytes.
    public var gattBytes: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
