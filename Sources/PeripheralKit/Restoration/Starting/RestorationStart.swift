internal import Logging
internal import PeripheralCore

/// What a peripheral begins with: its record, what was found in it, and what becomes of that.
struct RestorationStart: Sendable {
    /// Where the state is saved; `nil` when that is not possible in this run.
    private(set) var record: (any RestorationRecord)?
    /// Why there is no record.
    private(set) var failure: RestorationError?
    /// Opens the record that could not be opened; `nil` when there is one, or something is there that has to stay.
    private(set) var reopen: (@Sendable () async throws(RestorationError) -> any RestorationRecord)?
    /// What was found; `nil` when nothing was, or nothing that can be used.
    private(set) var loaded: PreservedState?
    private(set) var problems: [RestorationProblem] = []

    /// What is declared, in the order in which it stands on the air.
    let declared: DeclaredState
    private let match: DatabaseMatch
    private let plan: HandlePlan
    private let restoredValues: RestoredValues

    /// Opens the record of a peripheral, and reads what is there.
    ///
    /// - Parameters:
    ///   - declared: What is declared.
    ///   - identifier: What it is preserved under.
    ///   - store: Where it is preserved.
    ///   - stopwatch: What measures how long a store is waited for that cannot be opened.
    ///   - logger: Who is told of that wait.
    /// - Throws: When another peripheral has the identifier, or nobody can have it. Anything else that is amiss is among the
    ///   problems.
    init(
        of declared: DeclaredState,
        under identifier: String,
        in store: any RestorationStore,
        stopwatch: Stopwatch = Stopwatch(ContinuousClock()),
        logger: Logger = Logger(label: "peripheral")
    ) async throws(RestorationError) {
        var found = Findings()
        try await found.open(identifier, in: store, stopwatch: stopwatch, logger: logger)
        if found.record == nil {
            reopen = { () async throws(RestorationError) in try await store.open(identifier) }
        }
        await found.load()
        let declared = declared.arranged(after: found.loaded?.database.table)
        self.declared = declared
        (record, failure, loaded, problems) = (found.record, found.failure, found.loaded, found.problems)
        match =
            loaded.map { DatabaseMatch(of: declared.table, with: $0.database.table) } ?? DatabaseMatch()
        plan = HandlePlan(for: declared.table, after: loaded?.database, match)
        restoredValues = RestoredValues(of: declared, from: loaded, match)
        problems += restoredValues.problems
    }

    /// What to publish, with its attributes where they are to stand on the air, so that what was there before stays.
    func publication(of publication: Publication) -> Publication {
        publication.placing(
            declared.table,
            at: handlesOnAir,
            newServices: newServices,
            backendState: loaded?.backendState ?? ""
        )
    }

    /// The services that were not on the air before, or find no room any more where they were.
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

    /// The persistent values to begin with.
    var values: [AttributeHandle: [UInt8]] {
        declared.persistentValues.mapValues(\.declaration.initial).merging(restoredValues.taken) { $1 }
    }

    /// What is preserved at first.
    var state: PreservedState {
        PreservedState(
            name: declared.name,
            adapter: loaded?.adapter,
            // What is new is where the stack says that it is.
            database: declared.database(at: plan.startsOnAir.filter { plan.kept.contains($0.key) }),
            advertisements: declared.advertisements,
            values: values,
            formerValues: restoredValues.former,
            options: declared.options,
            formats: declared.formats,
            backendState: loaded?.backendState ?? ""
        )
    }

    /// What the program is told, with the services planned where they were.
    var restored: RestoredState? { restored(at: plan.startsOnAir) }

    /// What the program is told, with the services at these handles on the air; `nil` when nothing was found.
    func restored(at starts: [Int: AttributeHandle]) -> RestoredState? {
        guard loaded != nil || !problems.isEmpty else { return nil }
        return RestoredState(
            loaded,
            formerHandles: declared.valueHandles.compactMapValues { match.former[$0] },
            persistentValues: declared.valueHandles.compactMapValues { restoredValues.taken[$0] },
            changes: loaded.map { loaded in
                DatabaseComparison(of: declared.database(at: starts), with: loaded.database, match).changes
            } ?? .unknown,
            subscribers: subscribers.map(\.subscriber),
            problems: problems
        )
    }

    var history: SubscriberHistory { SubscriberHistory(subscribers) }

    /// What is still to be sent to those who are expected.
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
            // What centrals cannot subscribe to any more has no subscribers, and none can be preserved.
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

/// What is found where the state of a peripheral is preserved.
struct Findings {
    /// How long a store is waited for that cannot be opened, such as one on a disk that is being mounted.
    ///
    /// Nothing is on the air meanwhile. To begin without what is preserved would cost more.
    private static let patience = Duration.seconds(5)
    /// The time between two attempts.
    private static let pause = Duration.milliseconds(250)

    var record: (any RestorationRecord)?
    private(set) var failure: RestorationError?
    private(set) var loaded: PreservedState?
    private(set) var problems: [RestorationProblem] = []

    fileprivate mutating func open(
        _ identifier: String,
        in store: any RestorationStore,
        stopwatch: Stopwatch,
        logger: Logger
    ) async throws(RestorationError) {
        let end = stopwatch.elapsed() + Self.patience
        var hasTold = false
        while true {
            do throws(RestorationError) {
                record = try await store.open(identifier)
                return
            } catch {
                guard error.code != .inUse, error.code != .invalidIdentifier else { throw error }
                if !hasTold {
                    logger.notice(
                        "The preserved state cannot be opened yet; the peripheral waits up to 5 seconds for it.",
                        metadata: ["peripheral.reason": "\(error)"]
                    )
                }
                hasTold = true
                let left = end - stopwatch.elapsed()
                // A run that is cancelled waits no longer.
                guard left > .zero, (try? await stopwatch.sleep(min(left, Self.pause))) != nil else {
                    failure = error
                    problems.append(RestorationProblem(.open, error))
                    return
                }
            }
        }
    }

    /// Reads what is in the record, and gets it out of the way where it cannot be used.
    mutating func load() async {
        // Twice, since what this version saved before may be there once the state of a newer one is out of the way.
        for _ in 1...2 {
            guard let record else { return }
            do throws(RestorationError) {
                guard let document = try await record.load() else { return }
                loaded = try PreservedState(decoding: document)
                return
            } catch {
                await setAside(error, record)
                guard error.code == .newerVersion else { return }
            }
        }
    }

    /// Gets what cannot be used out of the way: to save over it would be to lose it.
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
            await record.close()
            self.record = nil
        }
    }
}
