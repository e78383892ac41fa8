/// An object of a BTHome packet: a measurement, a state or an event.
///
/// ```swift
/// let objects: [BTHomeObject] = [.temperature(21.5), .humidity(48), .binary(.window, true), .button(.press)]
/// ```
///
/// The [BTHome format](https://bthome.io/format), version 2, defines the objects and their numbers. A packet
/// can
/// contain several objects of one kind, for example of three temperature sensors.
public struct BTHomeObject: Hashable, Sendable {
    private enum Content: Hashable {
        case bytes(id: UInt8, [UInt8])
        case number(BTHomeQuantity, Double, id: UInt8?)
        case text(String)
        case raw([UInt8])
    }

    private let content: Content

    private init(_ content: Content) {
        self.content = content
    }

    /// Creates an object from bytes that are always possible.
    init(id: UInt8, _ bytes: [UInt8]) {
        self.init(.bytes(id: id, bytes))
    }

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - quantity: The quantity.
    ///   - value: The value in the unit of the quantity.
    ///   - objectID: The number of the format, or `nil` for the first format that can hold the value.
    init(_ quantity: BTHomeQuantity, _ value: Double, _ objectID: UInt8? = nil) {
        self.init(.number(quantity, value, id: objectID))
    }

    /// A text, object 0x53, with up to 255 bytes of UTF-8.
    public static func text(_ text: String) -> BTHomeObject {
        BTHomeObject(.text(text))
    }

    /// Bytes without a defined meaning, object 0x54, up to 255 bytes.
    public static func raw(_ bytes: [UInt8]) -> BTHomeObject {
        BTHomeObject(.raw(bytes))
    }

    /// The number of the object, followed by its bytes.
    var encoded: [UInt8] {
        get throws(BTHomeError) {
            switch content {
            case .bytes(let id, let bytes): [id] + bytes
            case .number(let quantity, let value, let id): try quantity.encode(value, as: id)
            case .text(let text): try Self.encode(Array(text.utf8), id: 0x53, "text")
            case .raw(let bytes): try Self.encode(bytes, id: 0x54, "raw data")
            }
        }
    }

    private static func encode(
        _ bytes: [UInt8],
        id: UInt8,
        _ name: String
    ) throws(BTHomeError) -> [UInt8] {
        // Receivers ignore an object without bytes.
        guard (1...255).contains(bytes.count) else {
            throw BTHomeError(message: "The \(name) has \(bytes.count) bytes. Use 1 to 255 bytes.")
        }
        return [id, UInt8(bytes.count)] + bytes
    }
}

extension [BTHomeObject] {
    /// The bytes of the objects in the order of their numbers.
    ///
    /// Objects with the same number stay in their order, by which receivers distinguish them.
    var encoded: [UInt8] {
        get throws(BTHomeError) {
            guard !isEmpty else {
                throw BTHomeError(message: "The packet is empty. Pass at least one object.")
            }
            var objects: [[UInt8]] = []
            for object in self { objects.append(try object.encoded) }
            let order = objects.indices.sorted { (objects[$0][0], $0) < (objects[$1][0], $1) }
            return order.flatMap { objects[$0] }
        }
    }
}
