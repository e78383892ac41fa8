/// A value that a characteristic or a descriptor can hold: how it is written to bytes, and read from them.
///
/// GATT values are little-endian (GATT Specification Supplement, 2.2). A value made of several fields names
/// them in their order, twice:
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
    /// Reads a value, and leaves the reader behind its last byte.
    ///
    /// - Throws: ``GATTDecodingError`` when bytes are missing or what they say is not allowed.
    init(decoding reader: inout ByteReader) throws(GATTDecodingError)

    /// Appends the value's bytes.
    func encode(into writer: inout ByteWriter)
}

extension GATTValue {
    /// Reads a value that fills the bytes from the first to the last.
    ///
    /// - Throws: ``GATTDecodingError`` when bytes are missing or left over, or what they say is not allowed.
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
