public import PeripheralCore

/// The state that a run of a peripheral restores from an earlier run.
///
/// A peripheral with a restoration identifier receives this state before it is registered and before any
/// request.
///
/// ```swift
/// let door = Peripheral("Door", restorationIdentifier: "com.example.door", pairing: .justWorks) {
///     GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { isLocked }
/// } onRestore: { restored in
///     for problem in restored.problems { print(problem) }
///     if let isLocked = try restored.value(of: isLocked) { try await bolt.move(toLocked: isLocked) }
///     if restored.changes.invalidatesCaches { print("Centrals will discover the services again.") }
/// }
/// ```
///
/// The restored state describes the end of the earlier run. ``PeripheralSession/restored`` and
/// ``SessionEvent/restoredSubscriberChanged(_:)`` report which subscribers have subscribed again.
public struct RestoredState: Sendable {
    let preserved: PreservedState?
    /// The handles that the declared characteristics had in the earlier table.
    private let formerHandles: [CharacteristicIdentity: AttributeHandle]

    /// The preserved values that the declaration has accepted.
    private let persistentValues: [CharacteristicIdentity: [UInt8]]

    /// The subscribers, in the order in which they subscribed.
    public internal(set) var subscribers: [RestoredSubscriber]

    /// The differences between the declaration and the attributes that were published earlier.
    ///
    /// If nothing could be restored, the differences are not known, and the caches of centrals count as
    /// invalid.
    public let changes: DeclarationChanges

    /// The problems that occurred, such as a damaged file that was set aside; usually empty.
    public let problems: [RestorationProblem]

    /// Whether nothing could be restored; ``problems`` contains the reason.
    public var isEmpty: Bool { preserved == nil }

    /// The earlier name of the peripheral; `nil` when nothing could be restored.
    public var name: String? { preserved?.name }

    /// The address of the adapter that the peripheral was on the air with.
    ///
    /// The address is `nil` when it is not known.
    public var adapter: DeviceAddress? { preserved?.adapter }

    /// The services that were published, in the order of the declaration, with all characteristics and
    /// descriptors.
    public var services: [ServiceDescription] { preserved?.database.table.services ?? [] }

    /// The advertisements that the program had declared or last set.
    public var advertisements: [Advertisement] { preserved?.advertisements ?? [] }

    init(
        _ preserved: PreservedState?,
        formerHandles: [CharacteristicIdentity: AttributeHandle],
        persistentValues: [CharacteristicIdentity: [UInt8]],
        changes: DeclarationChanges,
        subscribers: [RestoredSubscriber],
        problems: [RestorationProblem]
    ) {
        self.preserved = preserved
        self.formerHandles = formerHandles
        self.persistentValues = persistentValues
        self.changes = changes
        self.subscribers = subscribers
        self.problems = problems
    }

    /// Returns the preserved value of a characteristic.
    ///
    /// Only the values of characteristics with a ``PersistentValue``, and constant values, are preserved. The
    /// peripheral serves a persistent value automatically. Use this function if the program has to act on the
    /// value.
    ///
    /// - Parameter characteristic: A characteristic of the peripheral that is about to run.
    /// - Returns: The value. With a ``PersistentValue``, the result is the value that centrals read. The
    ///   result is `nil` when no value is preserved. The result is also `nil` when the ``PersistentValue``
    ///   does not accept the value. ``problems`` then contains the reason.
    /// - Throws: `GATTDecodingError` when the preserved bytes do not have this type, and the characteristic
    ///   has no ``PersistentValue``.
    public func value<Value>(of characteristic: Characteristic<Value>) throws -> Value? {
        try bytes(of: characteristic).map { try Value(gattBytes: $0) }
    }

    private func bytes<Value>(of characteristic: Characteristic<Value>) -> [UInt8]? {
        guard characteristic.declaration.persistentValue == nil else {
            return persistentValues[characteristic.declaration.identity]
        }
        guard let handle = formerHandles[characteristic.declaration.identity] else { return nil }
        return preserved?.values[handle] ?? preserved?.database.staticValues[handle]
    }

    /// Returns the handle that a characteristic's value had on the air.
    ///
    /// The result is `nil` when the value had no handle on the air, or when the handle is not known.
    public func handle<Value>(of characteristic: Characteristic<Value>) -> AttributeHandle? {
        formerHandles[characteristic.declaration.identity].flatMap {
            preserved?.database.handleOnAir(of: $0)
        }
    }
}

/// A failure to restore or save a part of the preserved state.
///
/// The peripheral runs despite this failure.
public struct RestorationProblem: Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed.
    public enum Operation: Hashable, Sendable {
        /// Opening the record of the identifier.
        ///
        /// Nothing is preserved until the record is open. The peripheral tries again to open the record,
        /// unless the existing state must not be replaced. For example, the next run begins with the existing
        /// state (``RestorationError/Code/openedLate``), or the state can be neither read nor renamed.
        case open
        /// Restoring the preserved state. The peripheral begins without it.
        case restore
        /// Restoring a preserved value. The characteristic has its initial value. All other state is
        /// restored.
        case value
        /// Saving a change. The peripheral tries again to save the change.
        case save
    }

    /// The operation that failed.
    public let operation: Operation

    /// The reason for the failure.
    public let error: RestorationError

    /// The new location of state that was set aside, for a person to examine.
    ///
    /// The location is `nil` when the state was not moved.
    public let setAside: String?

    init(_ operation: Operation, _ error: RestorationError, setAside: String? = nil) {
        self.operation = operation
        self.error = error
        self.setAside = setAside
    }

    /// Compares the operations and the failures.
    public static func == (left: RestorationProblem, right: RestorationProblem) -> Bool {
        left.operation == right.operation && left.error.code == right.error.code
            && left.error.message == right.error.message && left.setAside == right.setAside
    }

    /// Hashes the operation and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(operation)
        hasher.combine(error.message)
    }

    /// The error, and the location of state that was set aside.
    public var description: String {
        error.message + (setAside.map { " It is set aside as \($0)." } ?? "")
    }
}
