extension GATTValue where Self: FixedWidthInteger {
    /// Decodes an integer, the least significant byte first.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self = try reader.read()
    }

    /// Appends the integer, the least significant byte first.
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
    /// Decodes a byte that is 0 or 1; any other is no value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = false
        case 1: self = true
        case let byte:
            throw GATTDecodingError(code: .invalidValue, message: "\(byte) is neither 0 (false) nor 1 (true)")
        }
    }

    /// Appends 0 or 1.
    public func encode(into writer: inout ByteWriter) {
        writer.write(UInt8(self ? 1 : 0))
    }
}

extension String: GATTValue {
    /// Decodes all bytes that remain as UTF-8; malformed text is no value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        guard let text = String(validating: reader.readRemainingBytes(), as: UTF8.self) else {
            throw GATTDecodingError(code: .invalidValue, message: "the text is not UTF-8")
        }
        self = text
    }

    /// Appends the text as UTF-8, without a terminating zero.
    public func encode(into writer: inout ByteWriter) {
        writer.write(utf8)
    }
}

extension [UInt8]: GATTValue {
    /// Takes all bytes that remain.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self = reader.readRemainingBytes()
    }

    /// Appends the bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(self)
    }
}
