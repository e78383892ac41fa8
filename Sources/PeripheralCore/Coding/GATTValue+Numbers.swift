/// Integers are little-endian, in two's complement (GATT Specification Supplement, 2.3).
extension GATTValue where Self: FixedWidthInteger {
    /// Reads a little-endian integer.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self = try reader.read()
    }

    /// Appends the bytes of the integer, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(self)
    }
}

extension UInt8: GATTValue {}
extension UInt16: GATTValue {}
extension UInt32: GATTValue {}
extension UInt64: GATTValue {}
extension Int8: GATTValue {}
extension Int16: GATTValue {}
extension Int32: GATTValue {}
extension Int64: GATTValue {}

extension Bool: GATTValue {
    /// Reads a Boolean value from one byte, which must be 0 or 1.
    ///
    /// See GATT Specification Supplement, 2.3, *boolean*.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let byte: UInt8 = try reader.read()
        guard byte <= 1 else {
            throw .invalidValue("\(byte) is not a Boolean: only 0 and 1 are allowed")
        }
        self = byte == 1
    }

    /// Appends the byte 0 for `false` or the byte 1 for `true`.
    public func encode(into writer: inout ByteWriter) {
        writer.write(self ? 1 as UInt8 : 0)
    }
}

extension Float: GATTValue {
    /// Reads a 32-bit IEEE 754 number, which can be an infinity or NaN.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(bitPattern: try reader.read())
    }

    /// Appends the number as four bytes, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bitPattern)
    }
}

extension Double: GATTValue {
    /// Reads a 64-bit IEEE 754 number, which can be an infinity or NaN.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(bitPattern: try reader.read())
    }

    /// Appends the number as eight bytes, with the least significant byte first.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bitPattern)
    }
}
