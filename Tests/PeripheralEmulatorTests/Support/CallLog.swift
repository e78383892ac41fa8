import PeripheralDBus
import Synchronization

/// A call that a program got, as text: `ReadValue /app/rw({'device': o /org/…, 'mtu': q 517})`.
struct RecordedCall: Sendable {
    let member: String
    let path: String
    let arguments: [BusValue]
    let isReplyExpected: Bool

    init(_ message: borrowing IncomingMessage, isReplyExpected: Bool) {
        member = message.member.string
        path = message.path.string
        var reader = message.arguments
        arguments = (try? reader.readValues()) ?? []
        self.isReplyExpected = isReplyExpected
    }

    var text: String {
        let arguments = arguments.map(\.text).joined(separator: ", ")
        return "\(member) \(path)(\(arguments))" + (isReplyExpected ? "" : " NO_REPLY_EXPECTED")
    }
}

/// What came in, in its order, to be taken or waited for.
final class CallLog: Sendable {
    private struct State {
        var texts: [String] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func add(_ text: String) {
        let waiters = state.withLock { state in
            state.texts.append(text)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// All since the last time.
    func take() -> [String] {
        state.withLock { state in
            defer { state.texts = [] }
            return state.texts
        }
    }

    /// Waits until there are this many, and takes all.
    func take(_ count: Int) async -> [String] {
        while true {
            let texts: [String]? = await withCheckedContinuation { continuation in
                let texts: [String]? = state.withLock { state in
                    guard state.texts.count < count else {
                        defer { state.texts = [] }
                        return state.texts
                    }
                    return nil
                }
                continuation.resume(returning: texts)
            }
            if let texts { return texts }
            await waitForMore(than: count - 1)
        }
    }

    private func waitForMore(than count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.texts.count <= count { state.waiters.append(continuation) }
                return state.texts.count > count
            }
            if isThere { continuation.resume() }
        }
    }
}

extension BusValue {
    /// The value with its type.
    var text: String {
        switch self {
        case .byte(let value): "y \(value)"
        case .bool(let value): "b \(value)"
        case .int16(let value): "n \(value)"
        case .uint16(let value): "q \(value)"
        case .uint32(let value): "u \(value)"
        case .string(let value): "s '\(value)'"
        case .objectPath(let value): "o \(value)"
        case .bytes(let bytes): "ay " + bytes.map(\.hexadecimal).joined()
        case .array(_, let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
        case .dictionary(let dictionary):
            "{"
                + dictionary.entries.map { "'\($0.key.string ?? "")': \($0.value.text)" }
                .joined(separator: ", ") + "}"
        case .variant(let inner): inner.text
        default: "\(self)"
        }
    }
}

extension UInt8 {
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}

extension [UInt8] {
    var hexadecimal: String { map(\.hexadecimal).joined() }
}
