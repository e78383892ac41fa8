public import PeripheralKit

/// A line that a central has written to a ``UARTPort``.
public struct UARTLine: Sendable {
    /// The bytes of the line, without the line ending.
    public let bytes: [UInt8]

    /// The central that wrote the line.
    public let central: Central

    /// The text of the line, decoded as UTF-8.
    ///
    /// The character U+FFFD replaces invalid bytes.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Assembles lines from the bytes of several centrals.
struct UARTLineAssembler: Sendable {
    private struct Beginning {
        var bytes: [UInt8] = []
        /// Whether the last byte was CR, after which an LF does not end another line.
        var endsWithCR = false
    }

    let limit: Int
    private var beginnings: [Central.ID: Beginning] = [:]
    /// The complete lines that have not been delivered, in reverse order.
    private var lines: [UARTLine] = []

    init(limit: Int) {
        self.limit = limit
    }

    mutating func next() -> UARTLine? {
        lines.popLast()
    }

    /// Adds the bytes of a write, after all previous lines have been delivered.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - central: The central that has written them.
    ///   - connected: Returns the connected centrals. The unfinished lines of others are dropped.
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
