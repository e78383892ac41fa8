extension String: GATTValue {
    /// Reads the remaining bytes as UTF-8 text (GATT Specification Supplement, 2.3, *utf8s*).
    ///
    /// - Throws: ``GATTDecodingError/Code/invalidValue`` when the bytes are not valid UTF-8.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        guard let text = String(validating: reader.readRemaining(), as: UTF8.self) else {
            throw .invalidValue("the bytes are not UTF-8 text")
        }
        self = text
    }

    /// Appends the text in UTF-8 without a terminating null byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(Array(utf8))
    }
}

extension [UInt8]: GATTValue {
    /// Reads all remaining bytes without conversion.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self = reader.readRemaining()
    }

    /// Appends the bytes without conversion.
    public func encode(into writer: inout ByteWriter) {
        writer.write(self)
    }
}
