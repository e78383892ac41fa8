@testable import PeripheralDBus

extension Feed {
    /// Any value that D-Bus can have, and some that it cannot.
    mutating func busValue(depth: Int = 0) -> BusValue {
        switch byte() % 20 {
        case 0: return .byte(byte())
        case 1: return .bool(flag())
        case 2: return .int16(integer())
        case 3: return .uint16(integer())
        case 4: return .int32(integer())
        case 5: return .uint32(integer())
        case 6: return .int64(integer())
        case 7: return .uint64(integer())
        case 8: return .double(Double(bitPattern: integer()))
        case 9: return .string(text())
        case 10: return .objectPath(ObjectPath(unchecked: validated(ObjectPath.self, or: "/")))
        case 11: return .signature(Signature(unchecked: validated(Signature.self, or: "")))
        case 12: return .bytes(bytes())
        case 13 where depth < 40:
            let first = busValue(depth: depth + 1)
            var values = [first]
            // A container is not repeated: containers of these would grow without bound.
            let isRepeated = first.signature.text.utf8.count == 1 && flag()
            for _ in 0..<byte() % 4 { values.append(isRepeated ? first : busValue(depth: depth + 1)) }
            return .array(of: first.signature, values)
        case 14 where depth < 40:
            return .array(of: Signature(unchecked: validated(Signature.self, or: "u")), [])
        case 15 where depth < 40:
            let (key, value) = (busValue(depth: depth + 1), busValue(depth: depth + 1))
            var entries = [BusDictionary.Entry(key: key, value: value)]
            // Nor is a key, unless it is a key that D-Bus allows.
            let isKey = key.signature.text.utf8.count == 1
            for _ in 0..<(isKey ? byte() % 4 : 0) {
                entries.append(.init(key: key, value: busValue(depth: depth + 1)))
            }
            return .dictionary(BusDictionary(key: key.signature, value: value.signature, entries))
        case 16 where depth < 40:
            return .structure((0..<Int(byte() % 4)).map { _ in busValue(depth: depth + 1) })
        case 17 where depth < 40: return .variant(busValue(depth: depth + 1))
        case 18 where depth < 40:
            var value = BusValue.byte(byte())
            for _ in 0..<byte() % 40 { value = .variant(value) }
            return value
        case 19 where depth < 40:
            return .properties((0..<Int(byte() % 4)).map { _ in (text(), busValue(depth: depth + 1)) })
        default: return .byte(byte())
        }
    }

    private mutating func validated<Text: BusText>(_ type: Text.Type, or other: String) -> String {
        let text = text()
        return (try? Text(text)) == nil ? other : text
    }
}
