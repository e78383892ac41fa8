/// The limits for decoding one message into values, whatever its content.
struct DecodingBudget {
    /// The maximum depth of nested containers.
    ///
    /// libdbus allows 64.
    static let maximumDepth = 32
    /// The maximum number of values.
    ///
    /// An empty array takes four bytes in a message and many more here.
    static let maximumValues = 1 << 18

    private var remaining = Self.maximumValues

    mutating func spend(depth: Int) throws(BusError) {
        guard depth <= Self.maximumDepth else {
            throw .limitExceeded("the message is nested deeper than \(Self.maximumDepth) containers")
        }
        remaining -= 1
        guard remaining >= 0 else {
            throw .limitExceeded("the message contains more than \(Self.maximumValues) values")
        }
    }
}

extension MessageReader {
    /// Reads the whole value at this position, of any type.
    package mutating func readValue() throws(BusError) -> BusValue {
        guard !isAtEnd else { throw mismatch("any value", found: "") }
        var budget = DecodingBudget()
        return try readValue(&budget, depth: 0)
    }

    /// Reads all values from this position to the end.
    package mutating func readValues() throws(BusError) -> [BusValue] {
        var budget = DecodingBudget()
        return try readValues(&budget, depth: 0)
    }

    private mutating func readValues(_ budget: inout DecodingBudget, depth: Int) throws(BusError)
        -> [BusValue]
    {
        var values: [BusValue] = []
        while !isAtEnd { values.append(try readValue(&budget, depth: depth)) }
        return values
    }

    private mutating func readValue(_ budget: inout DecodingBudget, depth: Int) throws(BusError) -> BusValue {
        try budget.spend(depth: depth)
        switch typeCode {
        case TypeCode.byte: return .byte(try readByte())
        case TypeCode.bool: return .bool(try readBool())
        case TypeCode.int16: return .int16(try readInt16())
        case TypeCode.uint16: return .uint16(try readUInt16())
        case TypeCode.int32: return .int32(try readInt32())
        case TypeCode.uint32: return .uint32(try readUInt32())
        case TypeCode.int64: return .int64(try readInt64())
        case TypeCode.uint64: return .uint64(try readUInt64())
        case TypeCode.double: return .double(try readDouble())
        case TypeCode.string: return .string(try readString())
        case TypeCode.objectPath: return .objectPath(try readObjectPath())
        case TypeCode.signature: return .signature(try readSignature())
        case TypeCode.fileDescriptor: return .fileDescriptor(try readFileDescriptor())
        case TypeCode.array: return try readArray(&budget, depth: depth)
        case TypeCode.structure:
            return .structure(
                try readContents { (fields) throws(BusError) in
                    try fields.readValues(&budget, depth: depth + 1)
                }
            )
        case TypeCode.variant:
            return .variant(
                try readContents { (inner) throws(BusError) in
                    try inner.readValue(&budget, depth: depth + 1)
                }
            )
        default: throw mismatch("a D-Bus type", found: signature)
        }
    }

    private mutating func readArray(_ budget: inout DecodingBudget, depth: Int) throws(BusError) -> BusValue {
        switch elementTypeCode {
        case TypeCode.byte: return .bytes(try readBytes())
        case TypeCode.dictionaryEntry: return .dictionary(try readDictionary(&budget, depth: depth))
        default:
            let element = Signature(unchecked: elementSignature)
            return .array(
                of: element,
                try readContents { (elements) throws(BusError) in
                    try elements.readValues(&budget, depth: depth + 1)
                }
            )
        }
    }

    private mutating func readDictionary(
        _ budget: inout DecodingBudget,
        depth: Int
    ) throws(BusError) -> BusDictionary {
        // In "{kv}", the key is a basic type, which has one letter.
        let entry = elementSignature.dropFirst().dropLast()
        var dictionary = BusDictionary(
            key: Signature(unchecked: String(entry.prefix(1))),
            value: Signature(unchecked: String(entry.dropFirst()))
        )
        dictionary.entries = try readContents { (entries) throws(BusError) in
            var decoded: [BusDictionary.Entry] = []
            while !entries.isAtEnd {
                decoded.append(
                    try entries.readContents { (pair) throws(BusError) in
                        BusDictionary.Entry(
                            key: try pair.readValue(&budget, depth: depth + 1),
                            value: try pair.readValue(&budget, depth: depth + 1)
                        )
                    }
                )
            }
            return decoded
        }
        return dictionary
    }
}
