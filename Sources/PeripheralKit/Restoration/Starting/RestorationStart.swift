internal import Logging
internal import PeripheralCore

/// The record of a peripheral, its preserved state, and the results of restoring it.
struct RestorationStart: Sendable {
    /// The record for saving; `nil` when saving is not possible in this run.
    private(set) var record: (any RestorationRecord)?
    /// The reason why there is no record.
    private(set) var failure: RestorationError?
    /// Opens the record later; `nil` when the record is open, or contains a state that must stay.
    private(set) var reopen: (@Sendable () async throws(RestorationError) -> any RestorationRecord)?
    /// The preserved state; `nil` when there is no usable state.
    private(set) var loaded: PreservedState?
    private(set) var problems: [RestorationProblem] = []

    /// The declaration, in the order of its attributes on the air.
    let declared: DeclaredState
    private let match: DatabaseMatch
    private let plan: HandlePlan
    private let leftPlaces: FormerPlaces
    private let restoredValues: RestoredValues

    /// Opens and reads the record of a peripheral.
    ///
    /// - Parameters:
    ///   - declared: The declaration.
    ///   - identifier: The restoration identifier.
    ///   - store: The store.
    ///   - stopwatch: The clock for the wait for a store that cannot be opened.
    ///   - logger: The log for that wait.
    /// - Throws: ``RestorationError`` when another peripheral uses the identifier, or the identifier is not
    ///   valid. All other failures are among the problems.
    init(
        of declared: DeclaredState,
        under identifier: String,
        in store: any RestorationStore,
        stopwatch: Stopwatch = Stopwatch(ContinuousClock()),
        logger: Logger = Logger(label: "peripheral")
    ) async throws(RestorationError) {
        var found = Findings()
        try await found.open(identifier, in: store, stopwatch: stopwatch, logger: logger)
        if found.isLate {
            reopen = { () async throws(RestorationError) in try await store.open(identifier) }
        }
        let declared = declared.arranged(after: found.loaded?.database.table)
        self.declared = declared
        (record, failure, loaded, problems) = (found.record, found.failure, found.loaded, found.problems)
        match =
            loaded.map { DatabaseMatch(of: declared.table, with: $0.database.table) } ?? DatabaseMatch()
        leftPlaces = Self.places(leftBy: loaded, match)
        plan = HandlePlan(for: declared.table, after: loaded?.database, match, besides: leftPlaces)
        restoredValues = RestoredValues(of: declared, from: loaded, match)
        problems += restoredValues.problems
    }

    /// Adds the planned handles to a copy of a publication, and returns the copy.
    ///
    /// The plan preserves the handles of the attributes that existed in the earlier run.
    func publication(of publication: BackendPublication) -> BackendPublication {
        publication.placing(
            declared.table,
            userDescriptions: declared.table.userDescriptions(of: declared.peripheral.services),
            maximumLengths: declared.table.maximumLengths(of: declared.peripheral.services),
            at: handlesOnAir,
            newServices: newServices,
            backendState: loaded?.backendState ?? ""
        )
    }

    /// The services that are new on the air, or no longer fit in their earlier position.
    private var newServices: Set<Int> {
        Set(declared.table.services.indices).subtracting(plan.kept)
    }

    var handlesOnAir: [AttributeHandle: AttributeHandle] {
        let database = PreservedDatabase(table: declared.table, startsOnAir: plan.startsOnAir)
        var handles: [AttributeHandle: AttributeHandle] = [:]
        for attribute in declared.table.attributes
        where declared.table.services[attribute.kind.service].handle == nil {
            switch attribute.kind {
            case .serviceDeclaration, .characteristicValue, .descriptor:
                handles[attribute.handle] = database.handleOnAir(of: attribute.handle)
            default:
                break
            }
        }
        return handles
    }

    /// Returns the places of services that were removed during an earlier run, or are no longer declared.
    private static func places(leftBy loaded: PreservedState?, _ match: DatabaseMatch) -> FormerPlaces {
        guard let loaded else { return FormerPlaces() }
        var places = loaded.formerPlaces
        let database = loaded.database
        for index in database.table.services.indices where database.table.services[index].handle == nil {
            guard match.present[database.table.serviceRange(index).lowerBound] == nil,
                let start = database.startsOnAir[index]
            else { continue }
            places.removed(
                database.service(index),
                from: start,
                values: database.values(ofService: index, among: loaded.values)
            )
        }
        return places
    }

    /// The places of services that the peripheral had, and does not have at the start of the run.
    var formerPlaces: FormerPlaces {
        var places = leftPlaces
        for index in declared.table.services.indices {
            let range = declared.table.serviceRange(index)
            guard let start = plan.startsOnAir[index],
                let last = start.advanced(by: range.upperBound.offset(from: range.lowerBound))
            else { continue }
            places.taken(start...last)
        }
        return places
    }

    /// The initial persistent values.
    var values: [AttributeHandle: [UInt8]] {
        declared.persistentValues.mapValues(\.declaration.initial).merging(restoredValues.taken) { $1 }
    }

    /// The state at the start of the run.
    var state: PreservedState {
        PreservedState(
            name: declared.name,
            adapter: loaded?.adapter,
            // The stack reports the handles of new services.
            database: declared.database(at: plan.startsOnAir.filter { plan.kept.contains($0.key) }),
            advertisements: declared.advertisements,
            values: values,
            formerValues: restoredValues.former,
            options: declared.options,
            formats: declared.formats,
            formerPlaces: formerPlaces,
            bonds: loaded?.bonds ?? [],
            backendState: loaded?.backendState ?? ""
        )
    }

    /// The restored state for the program, with the planned handles.
    var restored: RestoredState? { restored(at: plan.startsOnAir) }

    /// The restored state for the program, with these handles on the air; `nil` when nothing was found.
    func restored(at starts: [Int: AttributeHandle]) -> RestoredState? {
        guard loaded != nil || !problems.isEmpty else { return nil }
        return RestoredState(
            loaded,
            formerHandles: declared.valueHandles.compactMapValues { match.former[$0] },
            persistentValues: declared.valueHandles.filter { declared.persistentValues[$0.value] != nil }
                .mapValues { restoredValues.taken[$0] },
            changes: loaded.map { loaded in
                DatabaseComparison(of: declared.database(at: starts), with: loaded.database, match).changes
            } ?? .unknown,
            subscribers: subscribers.map(\.subscriber),
            problems: problems
        )
    }

    var history: SubscriberHistory { SubscriberHistory(subscribers) }

    /// The unsent updates of expected subscribers.
    var outbox: Outbox {
        var outbox = Outbox(
            (loaded?.updates ?? []).compactMap { update in
                guard let handle = match.present[update.characteristic], declared.isDurable(handle) else {
                    return nil
                }
                return PreservedUpdate(characteristic: handle, address: update.address, value: update.value)
            }
        )
        let expected = history.preserved.map {
            Outbox.Key(characteristic: $0.characteristic, address: $0.address)
        }
        outbox.keep(Set(expected))
        return outbox
    }

    private var subscribers: [SubscriberHistory.Restored] {
        let identities = Dictionary(declared.valueHandles.map { ($1, $0) }) { first, _ in first }
        return (loaded?.subscribers ?? []).map { subscriber in
            // If centrals can no longer subscribe to a characteristic, it has no subscribers to preserve.
            let handle = match.present[subscriber.characteristic].flatMap {
                declared.table.isSubscribable($0) ? $0 : nil
            }
            let isExpected = subscriber.isBonded && handle != nil
            return SubscriberHistory.Restored(
                subscriber: RestoredSubscriber(
                    central: Central(
                        address: subscriber.address,
                        addressKind: subscriber.addressKind,
                        isBonded: subscriber.isBonded
                    ),
                    characteristic: loaded?.database.table[subscriber.characteristic]?.type
                        ?? BluetoothUUID(0),
                    kind: subscriber.kind,
                    since: .seconds(subscriber.since),
                    status: isExpected ? .expected : .mustSubscribeAgain,
                    identity: handle.flatMap { identities[$0] }
                ),
                handle: handle,
                since: subscriber.since,
                adapter: subscriber.adapter ?? loaded?.adapter
            )
        }
    }
}

/// The contents of a peripheral's record.
struct Findings {
    /// The maximum wait for a store that cannot be opened or read, such as a store on a disk that is being
    /// mounted.
    ///
    /// The peripheral is not on the air meanwhile. A start without the preserved state would be worse.
    private static let patience = Duration.seconds(5)
    /// The time between two attempts.
    private static let pause = Duration.milliseconds(250)

    var record: (any RestorationRecord)?
    private(set) var failure: RestorationError?
    private(set) var loaded: PreservedState?
    private(set) var problems: [RestorationProblem] = []
    /// Whether the store could not be opened or read in time, so that a later attempt may succeed.
    private(set) var isLate = false

    init(record: (any RestorationRecord)? = nil) {
        self.record = record
    }

    /// Opens and reads the record.
    fileprivate mutating func open(
        _ identifier: String,
        in store: any RestorationStore,
        stopwatch: Stopwatch,
        logger: Logger
    ) async throws(RestorationError) {
        let end = stopwatch.elapsed() + Self.patience
        var hasReported = false
        while true {
            do throws(RestorationError) {
                record = try await store.open(identifier)
                return try await load()
            } catch {
                guard error.code != .inUse, error.code != .invalidIdentifier else { throw error }
                if !hasReported {
                    logger.notice(
                        "The preserved state cannot be read yet. The peripheral waits for up to 5 seconds.",
                        metadata: ["peripheral.reason": "\(error)"]
                    )
                }
                hasReported = true
                let left = end - stopwatch.elapsed()
                // If the run is cancelled, it does not wait any longer.
                guard left > .zero, (try? await stopwatch.sleep(min(left, Self.pause))) != nil else {
                    failure = error
                    isLate = true
                    problems.append(RestorationProblem(.open, error))
                    return
                }
            }
        }
    }

    /// Reads the record, and sets a state aside that cannot be used.
    ///
    /// - Throws: `unreadable`. The record is then closed. The state is not set aside, because a later attempt
    ///   may succeed.
    mutating func load() async throws(RestorationError) {
        // The record is loaded twice, because an earlier state of this version may appear after the state of
        // a newer version has been set aside.
        for _ in 1...2 {
            guard let record else { return }
            do throws(RestorationError) {
                guard let restorationState = try await record.load() else { return }
                loaded = try PreservedState(decoding: restorationState)
                return
            } catch {
                guard error.code != .unreadable else {
                    await close(record)
                    throw error
                }
                await setAside(error, record)
                guard error.code == .newerVersion else { return }
            }
        }
    }

    /// Sets aside a state that cannot be used, because a save would overwrite it.
    private mutating func setAside(_ error: RestorationError, _ record: any RestorationRecord) async {
        do throws(RestorationError) {
            let place =
                if error.code == .newerVersion, let version = error.version {
                    try await record.setAside(forVersion: version)
                } else {
                    try await record.setAside()
                }
            problems.append(RestorationProblem(.restore, error, setAside: place))
        } catch let obstacle {
            problems += [RestorationProblem(.restore, error), RestorationProblem(.open, obstacle)]
            failure = obstacle
            await close(record)
        }
    }

    private mutating func close(_ record: any RestorationRecord) async {
        await record.close()
        self.record = nil
    }
}
