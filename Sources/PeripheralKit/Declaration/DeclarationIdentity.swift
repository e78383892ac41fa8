private import Synchronization

/// What tells one declared element from all others of the process; copies of the element share it.
package struct DeclarationIdentity: Hashable, Sendable {
    private let number: UInt64

    private static let count = Atomic<UInt64>(0)

    init() {
        number = Self.count.add(1, ordering: .relaxed).newValue
    }
}

/// What tells one declared characteristic from all others of the process.
package typealias CharacteristicIdentity = DeclarationIdentity
