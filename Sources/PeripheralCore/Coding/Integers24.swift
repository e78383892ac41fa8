/// A 24-bit unsigned integer.
///
/// Many characteristics use 24-bit integers, which Swift does not provide.
public struct UInt24: GATTValue, RawRepresentable, Hashable {
    /// The number: 0 through 16 777 215.
    public let rawValue: UInt32

    /// Creates the number, or returns `nil` if it needs more than 24 bits.
    public init?(rawValue: UInt32) {
        guard rawValue <= Self.max.rawValue else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates the closest number that fits into 24 bits.
    public init(clamping value: some BinaryInteger) {
        rawValue = Swift.min(UInt32(clamping: value), Self.max.rawValue)
    }

    private init(unchecked rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The smallest number: 0.
    public static let min = UInt24(unchecked: 0)
    /// The largest number: 16 777 215.
    public static let max = UInt24(unchecked: 0xFF_FFFF)

    /// Reads three bytes, least significant first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        rawValue = try reader.read24Bits()
    }

    /// Appends three bytes, least significant first.
    public func encode(into writer: inout ByteWriter) {
        writer.write24Bits(rawValue)
    }
}

/// A 24-bit signed integer.
///
/// Many characteristics use 24-bit integers, which Swift does not provide.
public struct Int24: GATTValue, RawRepresentable, Hashable {
    /// The number: −8 388 608 through 8 388 607.
    public let rawValue: Int32

    /// Creates the number, or returns `nil` if it needs more than 24 bits.
    public init?(rawValue: Int32) {
        guard (Self.min.rawValue...Self.max.rawValue).contains(rawValue) else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates the closest number that fits into 24 bits.
    public init(clamping value: some BinaryInteger) {
        rawValue = Swift.min(Swift.max(Int32(clamping: value), Self.min.rawValue), Self.max.rawValue)
    }

    private init(unchecked rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The smallest number: −8 388 608.
    public static let min = Int24(unchecked: -0x80_0000)
    /// The largest number: 8 388 607.
    public static let max = Int24(unchecked: 0x7F_FFFF)

    /// Reads three bytes in two's complement, least significant first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        // Shifting the bits to the top and back extends the sign.
        rawValue = Int32(bitPattern: try reader.read24Bits() << 8) >> 8
    }

    /// Appends three bytes in two's complement, least significant first.
    public func encode(into writer: inout ByteWriter) {
        writer.write24Bits(UInt32(bitPattern: rawValue))
    }
}

extension ByteReader {
    /// Reads a 24-bit unsigned integer, least significant byte first.
    ///
    /// - Throws: ``GATTDecodingError/Code/tooShort`` when fewer than three bytes remain.
    public mutating func readUInt24() throws(GATTDecodingError) -> UInt24 {
        try UInt24(decoding: &self)
    }

    /// Reads a 24-bit integer in two's complement, least significant byte first.
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
    /// Appends three bytes, least significant first.
    public mutating func write(_ value: UInt24) {
        value.encode(into: &self)
    }

    /// Appends three bytes in two's complement, least significant first.
    public mutating func write(_ value: Int24) {
        value.encode(into: &self)
    }

    fileprivate mutating func write24Bits(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value))
        write(UInt8(truncatingIfNeeded: value >> 16))
    }
}
