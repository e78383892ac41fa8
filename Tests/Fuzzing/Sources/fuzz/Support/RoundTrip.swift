import PeripheralKit

/// A kind of value, by its decoder.
struct ValueKind: Sendable {
    /// Decodes bytes, and traps when what is decoded is not encoded as a value that is decoded as the same.
    let take: @Sendable ([UInt8]) -> Void

    init<Value: GATTValue & Equatable>(
        _ type: Value.Type,
        _ examine: @escaping @Sendable (Value) -> Void = { _ in }
    ) {
        take = { bytes in
            guard let value = Self.decode(type, bytes) else { return }
            let encoded = value.gattBytes
            guard let again = try? Value(gattBytes: encoded) else {
                return check(false, "\(value) is encoded as \(encoded), which is none")
            }
            check(again.gattBytes == encoded, "\(encoded) becomes \(again.gattBytes)")
            // What is longer than the smallest notification may be encoded without its end.
            check(
                again == value || encoded.count < bytes.count && bytes.count > 20,
                "\(value) becomes \(again)"
            )
            // A value is no longer than it was, but for text: U+FFFD in place of a wrong byte has three.
            check(encoded.count <= max(bytes.count * 3, 64), "\(bytes.count) bytes become \(encoded.count)")
            if encoded.count >= 12 { plantedFault(encoded, count: 8) }
            if let value = value as? any CustomStringConvertible {
                check(!value.description.isEmpty || bytes.isEmpty)
            }
            if let value = value as? any RawRepresentable { Self.examineRawValue(of: value) }
            examine(value)
        }
    }

    /// A value is the same when it is made of its raw value.
    private static func examineRawValue<Value: RawRepresentable>(of value: Value) {
        let again = Value(rawValue: value.rawValue)
        check((again as? any GATTValue)?.gattBytes == (value as? any GATTValue)?.gattBytes, "\(value)")
    }

    /// The value in some bytes; `nil` if the bytes contain no value.
    ///
    /// The decoder then throws an error with a message.
    private static func decode<Value: GATTValue>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
        do throws(GATTDecodingError) {
            return try Value(gattBytes: bytes)
        } catch {
            check(!"\(error)".isEmpty)
            return nil
        }
    }
}
