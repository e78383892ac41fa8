public import PeripheralCore

/// What was preserved of a peripheral that ran before, as its next run finds it.
///
/// A peripheral with a restoration identifier gets it before anything else happens: before it is registered, and before any
/// central asks for anything.
///
/// ```swift
/// let door = Peripheral("Door", restorationIdentifier: "com.example.door", pairing: .justWorks) {
///     GATTService("5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001") { isLocked }
/// } onRestore: { restored in
///     for problem in restored.problems { print(problem) }
///     if let isLocked = try restored.value(of: isLocked) { try await bolt.move(toLocked: isLocked) }
///     if restored.changes.invalidatesCaches { print("Phones will discover the services anew.") }
/// }
/// ```
///
/// All of it is history: what of it is the case again is told by ``PeripheralSession/restored`` and by
/// ``SessionEvent/restoredSubscriberChanged(_:)``.
public struct RestoredState: Sendable {
    let preserved: PreservedState?
    /// Where the characteristics of the declaration stood in the table before.
    private let formerHandles: [CharacteristicIdentity: AttributeHandle]

    /// The values that the declaration has taken.
    private let persistentValues: [CharacteristicIdentity: [UInt8]]

    /// The subscribers, the longest subscribed first.
    public internal(set) var subscribers: [RestoredSubscriber]

    /// How the declaration differs from what was published before.
    ///
    /// When nothing could be restored, no difference is known, and centrals' caches are taken for invalid.
    public let changes: DeclarationChanges

    /// What has been met on the way, such as a file that was damaged and is set aside; usually nothing.
    public let problems: [RestorationProblem]

    /// Whether nothing could be restored; ``problems`` tells why.
    public var isEmpty: Bool { preserved == nil }

    /// The name that the peripheral had; `nil` when nothing could be restored.
    public var name: String? { preserved?.name }

    /// The address of the adapter that it was on the air of; `nil` when it is not known.
    public var adapter: DeviceAddress? { preserved?.adapter }

    /// The services that were published, in their order, with all that they consisted of.
    public var services: [ServiceDescription] { preserved?.database.table.services ?? [] }

    /// What was advertised, as the program had declared or demanded it.
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

    /// The value that a characteristic had, if that was declared with ``PersistentValue`` or never changed.
    ///
    /// The peripheral serves a persistent value by itself: this is for a program that has something to do about it.
    ///
    /// - Parameter characteristic: A characteristic of the peripheral that is about to run.
    /// - Returns: The value, which is the one that is served if it is declared with ``PersistentValue``; `nil` when none is
    ///   preserved, or none that the ``PersistentValue`` takes, which is among the ``problems``.
    /// - Throws: `GATTDecodingError` when the bytes that were preserved are none of this type, and the value is not declared
    ///   with ``PersistentValue``.
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

    /// Where the value of a characteristic stood on the air; `nil` when it was not there, or that is not known.
    public func handle<Value>(of characteristic: Characteristic<Value>) -> AttributeHandle? {
        formerHandles[characteristic.declaration.identity].flatMap {
            preserved?.database.handleOnAir(of: $0)
        }
    }
}

/// Something amiss about the state that is preserved; the peripheral runs all the same.
public struct RestorationProblem: Hashable, Sendable, CustomStringConvertible {
    /// What was tried.
    public enum Operation: Hashable, Sendable {
        /// To get at the record of the identifier; nothing is preserved until that succeeds, and it is tried again, unless
        /// something is there that has to stay: what can be neither read nor set aside, or, as
        /// ``RestorationError/Code/openedLate``, what the next run is to begin with.
        case open
        /// To restore what was preserved; the peripheral begins as if nothing had been.
        case restore
        /// To take a value that was preserved; it is the initial one, and the rest is restored.
        case value
        /// To preserve what has changed; it is tried again.
        case save
    }

    /// What was tried.
    public let operation: Operation

    /// Why it has failed.
    public let error: RestorationError

    /// Where what could not be restored is now, for a person to look into; `nil` when it is where it was.
    public let setAside: String?

    init(_ operation: Operation, _ error: RestorationError, setAside: String? = nil) {
        self.operation = operation
        self.error = error
        self.setAside = setAside
    }

    /// Compares what was tried, and how it has failed.
    public static func == (left: RestorationProblem, right: RestorationProblem) -> Bool {
        left.operation == right.operation && left.error.code == right.error.code
            && left.error.message == right.error.message && left.setAside == right.setAside
    }

    /// Hashes what was tried, and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(operation)
        hasher.combine(error.message)
    }

    /// The error, and where what could not be restored is now.
    public var description: String {
        error.message + (setAside.map { " It is set aside as \($0)." } ?? "")
    }
}
