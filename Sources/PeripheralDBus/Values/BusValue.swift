/// A value with its D-Bus type.
///
/// The messages of every call use ``MessageReader`` and ``MessageWriter`` instead. This type serves all other
/// purposes.
package enum BusValue: Sendable, Equatable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    case fileDescriptor(OwnedFileDescriptor)
    /// An array of bytes, with the D-Bus type `ay`.
    ///
    /// Each element is a plain byte and not a `BusValue`.
    case bytes([UInt8])
    /// An array of elements that are not bytes.
    ///
    /// The first associated value is the D-Bus type signature of one element.
    case array(of: Signature, [BusValue])
    case dictionary(BusDictionary)
    case structure([BusValue])
    indirect case variant(BusValue)
}

/// A dictionary that preserves the order of its entries.
package struct BusDictionary: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var key: BusValue
        package var value: BusValue

        package init(key: BusValue, value: BusValue) {
            self.key = key
            self.value = value
        }
    }

    package var keySignature: Signature
    package var valueSignature: Signature
    package var entries: [Entry]

    package init(key: Signature, value: Signature, _ entries: [Entry] = []) {
        keySignature = key
        valueSignature = value
        self.entries = entries
    }

    /// The value of the first entry with this key.
    package subscript(_ key: BusValue) -> BusValue? {
        entries.first { $0.key == key }?.value
    }
}

extension BusValue {
    /// Returns a dictionary `a{sv}` in the given order.
    package static func properties(_ entries: KeyValuePairs<String, BusValue>) -> BusValue {
        properties(entries.map { ($0.key, $0.value) })
    }

    /// Returns a dictionary `a{sv}` in the given order.
    package static func properties(_ entries: [(String, BusValue)]) -> BusValue {
        .dictionary(
            BusDictionary(
                key: "s",
                value: "v",
                entries.map { BusDictionary.Entry(key: .string($0.0), value: .variant($0.1)) }
            )
        )
    }

    /// Returns an array `as`.
    package static func strings(_ strings: [String]) -> BusValue {
        .array(of: "s", strings.map { .string($0) })
    }

    /// Returns an array `ao`.
    package static func objectPaths(_ paths: [ObjectPath]) -> BusValue {
        .array(of: "o", paths.map { .objectPath($0) })
    }
}

extension BusValue {
    package var signature: Signature {
        var text = ""
        appendSignature(to: &text)
        return Signature(unchecked: text)
    }

    private func appendSignature(to text: inout String) {
        switch self {
        case .byte: text += "y"
        case .bool: text += "b"
        case .int16: text += "n"
        case .uint16: text += "q"
        case .int32: text += "i"
        case .uint32: text += "u"
        case .int64: text += "x"
        case .uint64: text += "t"
        case .double: text += "d"
        case .string: text += "s"
        case .objectPath: text += "o"
        case .signature: text += "g"
        case .fileDescriptor: text += "h"
        case .bytes: text += "ay"
        case .array(let element, _): text += "a\(element.text)"
        case .dictionary(let dictionary):
            text += "a{\(dictionary.keySignature.text)\(dictionary.valueSignature.text)}"
        case .structure(let fields):
            text += "("
            for field in fields { field.appendSignature(to: &text) }
            text += ")"
        case .variant: text += "v"
        }
    }
}

extension Sequence where Element == BusValue {
    /// The concatenated types of the values.
    package var signature: Signature {
        Signature(unchecked: map(\.signature.text).joined())
    }
}
