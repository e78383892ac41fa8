import PeripheralKit
import PeripheralTesting

/// A value of a characteristic or a descriptor, and what it says in the words of `bluetooth-sig`.
struct Sample: CustomStringConvertible {
    private let origin: String
    private let type: BluetoothUUID
    private let bytes: [UInt8]
    private let fields: Field

    /// A value that the peripheral sends, or that is read of it: an independent decoder has to find these
    /// fields.
    static func sent(_ type: BluetoothUUID, _ value: some GATTValue, is fields: Field) -> Sample {
        Sample(origin: "sent", type: type, bytes: value.gattBytes, fields: fields)
    }

    /// A value that centrals write: an independent encoder has to make the same bytes of these fields.
    static func written(_ type: BluetoothUUID, _ value: some GATTValue, is fields: Field) -> Sample {
        Sample(origin: "written", type: type, bytes: value.gattBytes, fields: fields)
    }

    /// A descriptor, as a central reads it: an independent decoder has to find these fields.
    static func descriptor<Value>(
        _ type: BluetoothUUID,
        of characteristic: Characteristic<Value>,
        readBy central: VirtualCentral,
        is fields: Field
    ) async throws -> Sample {
        let bytes = try await central.read(type, of: characteristic)
        return Sample(origin: "descriptor", type: type, bytes: bytes, fields: fields)
    }

    var description: String {
        "\(origin) \(type) \(bytes.hexadecimal) \(fields)"
    }
}

/// What a decoder says of a value: a single value, or several by their names.
enum Field {
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([Field])
    case structure([(name: String, field: Field)])
    case absent

    /// Bytes, in hexadecimal digits.
    static func bytes(_ bytes: [UInt8]) -> Field { .text(bytes.hexadecimal) }
}

extension Field: CustomStringConvertible {
    /// The field as JSON, with the names that Python's parser has for what is no number.
    var description: String {
        switch self {
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value) where value.isNaN: "NaN"
        case .number(let value) where value.isInfinite: value < 0 ? "-Infinity" : "Infinity"
        case .number(let value): "\(value)"
        case .text(let value): quoted(value)
        case .list(let fields): "[" + fields.map(\.description).joined(separator: ", ") + "]"
        case .structure(let fields):
            "{" + fields.map { "\(quoted($0.name)): \($0.field)" }.joined(separator: ", ") + "}"
        case .absent: "null"
        }
    }

    private func quoted(_ text: String) -> String {
        "\""
            + text.unicodeScalars.map { scalar in
                switch scalar {
                case "\"", "\\": "\\\(scalar)"
                case ..<" ": "\\u00" + [UInt8(scalar.value)].hexadecimal
                default: "\(scalar)"
                }
            }.joined() + "\""
    }
}

extension Field: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(floatLiteral value: Double) { self = .number(value) }
    init(stringLiteral value: String) { self = .text(value) }
    init(nilLiteral: ()) { self = .absent }
    init(arrayLiteral elements: Field...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, Field)...) {
        self = .structure(elements.map { (name: $0, field: $1) })
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}
