/// A value of a characteristic or descriptor: a Swift type with its form on the air.
///
/// Numbers are on the air with their least significant byte first (Core Specification, Vol 3, Part G, 2.4).
///
/// ```swift
/// struct Colour: GATTValue {
///     var red, green, blue: UInt8
///
///     init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
///         red = try reader.read()
///         green = try reader.read()
///         blue = try reader.read()
///     }
///
///     func encode(into writer: inout ByteWriter) {
///         writer.write(red)
///         writer.write(green)
///         writer.write(blue)
///     }
/// }
/// ```
public protocol GATTValue: Sendable {
    /// Decodes the value, from where the reader stands; bytes that follow may remain.
    init(decoding reader: inout ByteReader) throws(GATTDecodingError)

    /// Appends the value's bytes.
    func encode(into writer: inout ByteWriter)
}

extension GATTValue {
    /// Decodes the value from all of the bytes.
    ///
    /// - Throws: ``GATTDecodingError`` when the bytes are no such value, or when some remain.
    public init(gattBytes bytes: [UInt8]) throws(GATTDecodingError) {
        var reader = ByteReader(bytes)
        self = try Self(decoding: &reader)
        guard reader.remainingCount == 0 else {
            throw GATTDecodingError(
                code: .trailingBytes,
                message: "\(reader.remainingCount) bytes follow the value"
            )
        }
    }

    /// The bytes on the air.
    public var gattBytes: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}
