/// Takes decisions from the bytes of an input, front to back; an exhausted feed gives zeros.
struct Feed {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value {
        var value: Value = 0
        for place in 0..<Value.bitWidth / 8 { value |= Value(truncatingIfNeeded: byte()) << (8 * place) }
        return value
    }

    /// Bytes behind their number, which takes one byte.
    mutating func bytes() -> [UInt8] {
        let count = min(Int(byte()), rest.count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    mutating func remaining() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
