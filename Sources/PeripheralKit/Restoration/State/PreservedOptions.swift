internal import PeripheralCore

/// The declared options of a characteristic that centrals cannot discover.
package struct PreservedOptions: Hashable, Sendable {
    /// The permitted number of bytes of a value.
    package var length: ValueLength

    /// The treatment of new values while earlier values wait.
    package var updates: UpdatePolicy

    /// When a central's write of a persistent value is answered.
    package var writes: WriteDurability

    package init(
        length: ValueLength = .any,
        updates: UpdatePolicy = .reject,
        writes: WriteDurability = .coalesced
    ) {
        self.length = length
        self.updates = updates
        self.writes = writes
    }

    /// Creates the options of a declared characteristic.
    init(of characteristic: CharacteristicDeclaration) {
        length = characteristic.length
        updates = characteristic.updates
        writes = characteristic.persistentValue?.isDurable == true ? .durable : .coalesced
    }
}

extension PreservedOptions {
    /// A text such as `0 512 reject 16 8192 64 coalesced`.
    var preservedText: String {
        let policy =
            switch updates.kind {
            case .reject(let count, let bytes): "reject \(count) \(bytes)"
            case .latest: "latest"
            }
        return [
            "\(length.minimum) \(length.maximum)", policy, updates.durableLimit.map { "\($0)" } ?? "-",
            writes == .durable ? "durable" : "coalesced",
        ].joined(separator: " ")
    }

    init(decoding text: String, of name: String) throws(RestorationError) {
        var words = PreservedWords(text, of: "options \(name)")
        length = ValueLength(
            minimum: try words.next("minimum") { Int($0) },
            maximum: try words.next("maximum") { Int($0) }
        )
        let kind: UpdatePolicy.Kind
        switch try words.next("policy", String.init) {
        case "reject":
            kind = .reject(
                count: try words.next("count") { Int($0) },
                bytes: try words.next("bytes") { Int($0) }
            )
        case "latest": kind = .latest
        default: throw .damaged("the options \"\(name)\" have an unknown policy")
        }
        updates = UpdatePolicy(kind: kind, durableLimit: try words.nextIfAny("limit") { Int($0) })
        writes = try words.next("durability") {
            switch $0 {
            case "durable": .durable
            case "coalesced": .coalesced
            default: nil
            }
        }
        guard length.isPossible, updates.isPossible else {
            throw .damaged("the options \"\(name)\" are not valid")
        }
    }
}
