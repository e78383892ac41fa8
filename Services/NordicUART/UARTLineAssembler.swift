public import PeripheralKit

/// A line that a central has written to a ``UARTPort``.
public struct UARTLine: Sendable {
    /// The bytes, without the end of the line.
    public let bytes: [UInt8]

    /// Who has written it.
    public let central: Central

    /// The bytes as UTF-8; what is none is replaced by U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Makes lines of the bytes of several centrals.
struct UARTLineAssembler: Sendable {
    private struct Beginning {
        var bytes: [UInt8] = []
        /// Whether the last byte was CR, after which LF ends no further line.
        var endsWithCR = false
    }

    let limit: Int
    private var beginnings: [Central.ID: Beginning] = [:]
    /// The complete lines that are not taken yet, the next one last.
    private var lines: [UARTLine] = []

    init(limit: Int) {
        self.limit = limit
    }

    mutating func next() -> UARTLine? {
        lines.popLast()
    }

    /// Takes the bytes of a write, when all lines before are taken.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - central: Who has written them.
    ///   - connected: Tells who is connected; what others have begun is dropped.
    mutating func append(_ bytes: [UInt8], from central: Central, connected: () -> [Central]) {
        if beginnings[central.id] == nil, !beginnings.isEmpty {
            let present = Set(connected().map(\.id))
            beginnings = beginnings.filter { present.contains($0.key) }
        }
        var beginning = beginnings[central.id] ?? Beginning()
        for byte in bytes {
            let isSecondOfTwo = byte == 0x0A && beginning.endsWithCR
            beginning.endsWithCR = byte == 0x0D
            if isSecondOfTwo { continue }
            if byte == 0x0A || byte == 0x0D {
                finish(&beginning, central)
            } else {
                if beginning.bytes.count == limit { finish(&beginning, central) }
                beginning.bytes.append(byte)
            }
        }
        let isOver = beginning.bytes.isEmpty && !beginning.endsWithCR
        beginnings[central.id] = isOver ? nil : beginning
        lines.reverse()
    }

    private mutating func finish(_ beginning: inout Beginning, _ central: Central) {
        lines.append(UARTLine(bytes: beginning.bytes, central: central))
        beginning.bytes = []
    }
}
