private import Synchronization

/// Identifies a declared element within the process.
///
/// Copies of the element share its identity.
package struct DeclarationIdentity: Hashable, Sendable {
    private let number: UInt64

    private static let count = Atomic<UInt64>(0)

    init() {
        number = Self.count.add(1, ordering: .relaxed).newValue
    }
}

/// Identifies a declared characteristic within the process.
package typealias CharacteristicIdentity = DeclarationIdentity
