/// A 24-bit unsigned integer.
///
/// Many characteristics contain 24-bit integers. The Swift standard library has no 24-bit integer types.
public struct UInt24: GATTValue, RawRepresentable, Hashable {
    /// The number as a `UInt32`, 0 through 16 777 215.
    public let rawValue: UInt32

    /// Creates a 24-bit integer, or returns `nil` if the number needs more than 24 bits.
    public init?(rawValue: UInt32) {
        guard rawValue <= Self.max.rawValue else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates the 24-bit integer that is closest to a number.
    public init(clamping value: some BinaryInteger) {
        rawValue = Swift.min(UInt32(clamping: value), Self.max.rawValue)
    }

    private init(unchecked rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The smallest 24-bit unsigned integer, 0.
    public static let min = UInt24(unchecked: 0)
    /// The largest 24-bit unsigned integer, 16 777 215.
    public static let max = UInt24(unchecked: 0xFF_FFFF)

    /// Reads a 24-bit unsigned integer from three bytes, with the least significant byte first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read24Bits()
    }

    /// Appends a 24-bit unsigned integer as three bytes, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write24Bits(rawValue)
    }
}

/// A 24-bit signed integer.
///
/// Many characteristics contain 24-bit integers. The Swift standard library has no 24-bit integer types.
public struct Int24: GATTValue, RawRepresentable, Hashable {
    /// The number as an `Int32`, −8 388 608 through 8 388 607.
    public let rawValue: Int32

    /// Creates a 24-bit integer, or returns `nil` if the number needs more than 24 bits.
    public init?(rawValue: Int32) {
        guard (Self.min.rawValue...Self.max.rawValue).contains(rawValue) else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates the 24-bit integer that is closest to a number.
    public init(clamping value: some BinaryInteger) {
        rawValue = Swift.min(Swift.max(Int32(clamping: value), Self.min.rawValue), Self.max.rawValue)
    }

    private init(unchecked rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The smallest 24-bit signed integer, −8 388 608.
    public static let min = Int24(unchecked: -0x80_0000)
    /// The largest 24-bit signed integer, 8 388 607.
    public static let max = Int24(unchecked: 0x7F_FFFF)

    /// Reads a 24-bit signed integer from three bytes in two's complement.
    ///
    /// The least significant byte is first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        // Shifting the bits to the top and back extends the sign.
        rawValue = Int32(bitPattern: try reader.read24Bits() << 8) >> 8
    }

    /// Appends a 24-bit signed integer as three bytes in two's complement.
    ///
    /// The least significant byte is first.
    public func encode(into writer: inout ByteWriter) {
        writer.write24Bits(UInt32(bitPattern: rawValue))
    }
}

extension ByteReader {
    /// Reads a 24-bit unsigned integer, with the least significant byte first.
    ///
    /// - Throws: ``GATTDecodingError/Code/tooShort`` when fewer than three bytes remain.
    public mutating func readUInt24() throws(GATTDecodingError) -> UInt24 {
        try UInt24(decoding: &self)
    }

    /// Reads a 24-bit signed integer in two's complement, with the least significant byte first.
    ///
    /// - Throws: ``GATTDecodingError/Code/tooShort`` when fewer than three bytes remain.
    public mutating func readInt24() throws(GATTDecodingError) -> Int24 {
        try Int24(decoding: &self)
    }

    fileprivate mutating func read24Bits() throws(GATTDecodingError) -> UInt32 {
        let bytes = try readBytes(3)
        return UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16
    }
}

extension ByteWriter {
    /// Appends a 24-bit unsigned integer as three bytes, with the least significant byte first.
    public mutating func write(_ value: UInt24) {
        value.encode(into: &self)
    }

    /// Appends a 24-bit signed integer as three bytes in two's complement.
    ///
    /// The least significant byte is first.
    public mutating func write(_ value: Int24) {
        value.encode(into: &self)
    }

    fileprivate mutating func write24Bits(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value))
        write(UInt8(truncatingIfNeeded: value >> 16))
    }
}
