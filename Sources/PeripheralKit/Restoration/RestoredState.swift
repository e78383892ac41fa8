internal import Logging
public import PeripheralCore

/// The state that a new run of a peripheral restores from an earlier run.
///
/// A peripheral with a restoration identifier receives the restored state before it registers its services
/// and before it serves any request.
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
/// The restored state describes the peripheral at the end of the earlier run. ``PeripheralSession/restored``
/// and ``SessionEvent/restoredSubscriberChanged(_:)`` report the subscribers that have subscribed again.
public struct RestoredState: Sendable {
    let preserved: PreservedState?
    /// The handles that the declared characteristics had in the earlier table.
    private let formerHandles: [CharacteristicIdentity: AttributeHandle]

    /// The preserved values of the characteristics with a persistent value.
    ///
    /// A value is `nil` if the declaration has not accepted it.
    private let persistentValues: [CharacteristicIdentity: [UInt8]?]

    /// The subscribers of the earlier run, in the order of their subscriptions.
    public internal(set) var subscribers: [RestoredSubscriber]

    /// The differences between the declaration and the attributes of the earlier run.
    ///
    /// If the framework could not restore anything, the differences are unknown, and
    /// ``DeclarationChanges/invalidatesCaches`` is `true`.
    public let changes: DeclarationChanges

    /// The problems during the restoration, such as a damaged file.
    ///
    /// The array of problems is usually empty.
    public let problems: [RestorationProblem]

    /// Whether the restored state is empty.
    ///
    /// The restored state is empty if the framework could not restore anything.
    ///
    /// If the value is `true`, ``problems`` contains the reason.
    public var isEmpty: Bool { preserved == nil }

    /// The name of the peripheral in the earlier run.
    ///
    /// The value is `nil` if the framework could not restore anything.
    public var name: String? { preserved?.name }

    /// The address of the adapter that the peripheral used in the earlier run.
    ///
    /// The address is `nil` if the framework does not know the address.
    public var adapter: DeviceAddress? { preserved?.adapter }

    /// The services of the earlier run, in the order of their declaration.
    ///
    /// Each service includes all its characteristics and descriptors.
    public var services: [ServiceDescription] { preserved?.database.table.services ?? [] }

    /// The most recent advertisements of the earlier run.
    ///
    /// The array contains the declared advertisements, unless the program set different advertisements during
    /// the earlier run.
    public var advertisements: [Advertisement] { preserved?.advertisements ?? [] }

    init(
        _ preserved: PreservedState?,
        formerHandles: [CharacteristicIdentity: AttributeHandle],
        persistentValues: [CharacteristicIdentity: [UInt8]?],
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

    /// Returns the preserved value of a characteristic from the earlier run.
    ///
    /// The framework preserves only constant values and the values of characteristics with a
    /// ``PersistentValue``. The peripheral serves a restored persistent value automatically. Use this
    /// function if the program itself needs the restored value.
    ///
    /// - Parameter characteristic: A characteristic in the new declaration of the peripheral.
    /// - Returns: The value. For a characteristic with a ``PersistentValue``, the result is the value that
    ///   centrals read. The result is `nil` if no value is preserved for the characteristic. The result is
    ///   also `nil` if the ``PersistentValue`` does not accept the preserved value. If the
    ///   ``PersistentValue`` does not accept the preserved value, ``problems`` contains the reason.
    /// - Throws: `GATTDecodingError` if the characteristic has no ``PersistentValue`` and its preserved bytes
    ///   cannot be decoded as a `Value`.
    public func value<Value>(of characteristic: Characteristic<Value>) throws -> Value? {
        try bytes(of: characteristic).map { try Value(gattBytes: $0) }
    }

    private func bytes<Value>(of characteristic: Characteristic<Value>) -> [UInt8]? {
        if let value = persistentValues[characteristic.declaration.identity] { return value }
        guard let handle = formerHandles[characteristic.declaration.identity] else { return nil }
        return preserved?.values[handle] ?? preserved?.database.staticValues[handle]
    }

    /// Returns the attribute handle that the value of a characteristic had in the earlier run.
    ///
    /// The result is `nil` if the value had no handle in the earlier run, or if the framework does not know
    /// the handle.
    public func handle<Value>(of characteristic: Characteristic<Value>) -> AttributeHandle? {
        formerHandles[characteristic.declaration.identity].flatMap {
            preserved?.database.handleOnAir(of: $0)
        }
    }
}

extension RestoredState: CustomStringConvertible {
    /// The restored state as text, with one line for each change, subscriber and problem.
    ///
    /// The text does not contain the preserved values.
    public var description: String {
        var lines = [
            name.map { "restored \"\($0)\"" + (adapter.map { " on adapter \($0)" } ?? "") }
                ?? "nothing restored"
        ]
        lines += changes.description.split(separator: "\n").map(String.init)
        lines += subscribers.map { "subscriber: \($0)" }
        lines += problems.map { "problem: \($0)" }
        return lines.joined(separator: "\n  ")
    }
}

/// A failure to restore or save a part of the preserved state.
///
/// The peripheral runs despite a restoration problem.
public struct RestorationProblem: Hashable, Sendable, CustomStringConvertible {
    /// A failed operation on the preserved state.
    public enum Operation: Hashable, Sendable {
        /// The framework could not open or read the record of the restoration identifier.
        ///
        /// The framework preserves nothing until the record is open. In most cases, the framework tries again
        /// to open the record. In the following two cases, the first save after a successful attempt would
        /// replace the preserved state. Therefore the framework does not try again:
        ///
        /// - The next run restores the state in the record (``RestorationError/Code/openedLate``).
        /// - The framework can neither read nor rename the state in the record.
        case open
        /// The framework could not restore the preserved state.
        ///
        /// The peripheral starts without the preserved state.
        case restore
        /// The framework could not restore a preserved value.
        ///
        /// The characteristic has its initial value instead of the preserved value. The framework restores
        /// all other preserved state.
        case value
        /// The framework could not save a change.
        ///
        /// The framework tries again to save the change.
        case save
    }

    /// The failed operation on the preserved state.
    public let operation: Operation

    /// The error that describes the reason for the failure.
    public let error: RestorationError

    /// The location to which the store has moved the preserved state.
    ///
    /// The state at this location can be examined manually.
    ///
    /// The location is `nil` if the state was not moved.
    public let setAside: String?

    init(_ operation: Operation, _ error: RestorationError, setAside: String? = nil) {
        self.operation = operation
        self.error = error
        self.setAside = setAside
    }

    /// Returns whether two problems are equal.
    ///
    /// Two problems are equal if these properties are equal: the operation, the code of the error, the
    /// message of the error, and ``setAside``.
    public static func == (left: RestorationProblem, right: RestorationProblem) -> Bool {
        left.operation == right.operation && left.error.code == right.error.code
            && left.error.message == right.error.message && left.setAside == right.setAside
    }

    /// Hashes the operation and the message of the error.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(operation)
        hasher.combine(error.message)
    }

    /// The message of the error.
    ///
    /// If the store has moved the preserved state, the text also contains the new location.
    public var description: String {
        error.message + (setAside.map { " It is set aside as \($0)." } ?? "")
    }
}

extension RestorationProblem {
    /// What the problem means for the run.
    var logMessage: Logger.Message {
        switch operation {
        case .open:
            "The preserved state cannot be used now. The peripheral runs without it, and refuses durable writes."
        case .restore: "The preserved state cannot be restored. The peripheral starts without it."
        case .value: "A preserved value cannot be restored. The characteristic has its initial value."
        case .save: "A change of the preserved state cannot be saved now."
        }
    }
}
