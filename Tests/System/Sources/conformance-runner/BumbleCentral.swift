import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// A central on Google's Bumble: a Bluetooth stack that shares nothing with BlueZ or with this project.
final class BumbleCentral: TestCentral {
    private struct State {
        var process: BumbleProcess?
        var database: DiscoveredDatabase?
        var arrivals: [(characteristic: AttributeHandle, update: ReceivedUpdate)] = []
    }

    let peripheral: Peripheral
    private let adapter: DeviceAddress
    let pool: CentralPool
    /// The place among the centrals of the scenario.
    let place: Int
    /// How many centrals the scenario has made.
    private let places: Places
    private let state = Mutex(State())
    /// The value handles to which the central has subscribed, in any connection.
    ///
    /// A bonded central stays subscribed across connections.
    private let subscribed = Mutex<Set<AttributeHandle>>([])

    /// How long to wait for an advertisement, a connection or an update, in milliseconds.
    let patience = 10_000

    /// Makes the first central of a scenario.
    convenience init(of peripheral: Peripheral, on adapter: DeviceAddress, from pool: CentralPool) {
        self.init(of: peripheral, on: adapter, from: pool, in: Places())
    }

    private init(
        of peripheral: Peripheral,
        on adapter: DeviceAddress,
        from pool: CentralPool,
        in places: Places
    ) {
        self.peripheral = peripheral
        self.adapter = adapter
        self.pool = pool
        self.places = places
        place = places.take()
    }

    func makeAnother() -> BumbleCentral {
        BumbleCentral(of: peripheral, on: adapter, from: pool, in: places)
    }

    // MARK: The link

    var mtu: Int {
        get async throws {
            guard let process = state.withLock({ $0.process }) else { return 23 }
            return try number(await process.ask("mtu").first)
        }
    }

    func scan() async throws -> [ScanResult] {
        var words = try await pool.process(place: place).ask("scan 1000")[...]
        let intervals = try Rig.intervals()
        var results: [ScanResult] = []
        while words.popFirst() == "advertiser" {
            let fields = Array(words.prefix(7))
            words = words.dropFirst(7)
            guard fields.count == 7, let address = DeviceAddress(String(fields[0])) else {
                throw misunderstood("scan")
            }
            results.append(
                ScanResult(
                    address: address,
                    advertisingData: try bytes(fields[5]),
                    scanResponse: try bytes(fields[6]),
                    isConnectable: fields[2] == "connectable",
                    interval: intervals[[fields[0], fields[5]]]
                )
            )
        }
        return results
    }

    func connect(mtu: Int, encrypting: Bool) async throws {
        guard state.withLock({ $0.process == nil }) else {
            throw TestCentralError(code: .alreadyConnected, message: "The central is connected.")
        }
        let process = try await pool.process(place: place)
        do {
            let clear = encrypting ? "" : " clear"
            _ = try await process.ask("connect \(patience) address \(adapter) mtu \(mtu)\(clear)")
        } catch let error as TestCentralError where error.code == .timedOut {
            throw TestCentralError(code: .notFound, message: error.message)
        }
        state.withLock { $0 = State(process: process) }
        // Subscribing needs it, and in the meantime bluetoothd has exchanged the MTU.
        _ = try await discover()
    }

    func disconnect() async throws { try await disconnect(because: 0x13) }

    func disconnect(because code: UInt8) async throws {
        let process = state.withLock { state in
            defer { state = State() }
            return state.process
        }
        do {
            _ = try await process?.ask("disconnect \(String(code, radix: 16))")
        } catch let error as TestCentralError where error.code == .disconnected {
            return
        }
    }

    func loseConnection() async throws {
        if let address = CentralPool.address(place: place) { try Rig.radio("cut \(address)") }
        try await disconnect()
    }

    // MARK: Discovery

    func discover() async throws -> DiscoveredDatabase {
        var services: [DiscoveredService] = []
        var words = try await ask("discover")[...]
        while let kind = words.popFirst() {
            switch kind {
            case "service", "secondary":
                let (first, last) = (try handle(words.popFirst()), try handle(words.popFirst()))
                guard first <= last else { throw misunderstood("discover") }
                services.append(
                    DiscoveredService(
                        uuid: try uuid(words.popFirst()),
                        handles: first...last,
                        characteristics: [],
                        isPrimary: kind == "service"
                    )
                )
            case "include":
                guard !services.isEmpty else { throw misunderstood("discover") }
                // The place of the declaration, then the included service with its end and its type.
                let fields = Array(words.prefix(4))
                words = words.dropFirst(4)
                guard fields.count == 4 else { throw misunderstood("discover") }
                services[services.count - 1].includedServices.append(try handle(fields[1]))
            case "characteristic":
                guard !services.isEmpty else { throw misunderstood("discover") }
                let value = try handle(words.popFirst())
                guard let properties = words.popFirst().flatMap({ UInt16($0, radix: 16) }) else {
                    throw misunderstood("discover")
                }
                services[services.count - 1].characteristics.append(
                    DiscoveredCharacteristic(
                        uuid: try uuid(words.popFirst()),
                        declarationHandle: AttributeHandle(rawValue: value.rawValue - 1),
                        valueHandle: value,
                        properties: CharacteristicProperties(rawValue: properties),
                        descriptors: []
                    )
                )
            case "descriptor":
                let found = try descriptor(words.popFirst(), words.popFirst())
                let count = services.last?.characteristics.count ?? 0
                guard count > 0 else { throw misunderstood("discover") }
                services[services.count - 1].characteristics[count - 1].descriptors.append(found)
            default:
                throw misunderstood("discover")
            }
        }
        let database = DiscoveredDatabase(services: services)
        state.withLock { $0.database = database }
        return database
    }

    func knownDatabase() async throws -> DiscoveredDatabase {
        if let database = state.withLock({ $0.database }) { return database }
        return try await discover()
    }

    // MARK: Requests

    func read(_ handle: AttributeHandle, offset: Int) async throws -> [UInt8] {
        let command = offset == 0 ? "read \(word(handle))" : "readblob \(word(handle)) \(offset)"
        return try bytes(await ask(command).first ?? "-")
    }

    func write(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        _ = try await ask("write \(word(handle)) \(word(value))")
        let characteristics = state.withLock { $0.database?.services.flatMap(\.characteristics) ?? [] }
        let configured = characteristics.first { characteristic in
            characteristic.descriptors.contains {
                $0.handle == handle && $0.uuid == .clientCharacteristicConfiguration
            }
        }
        if let configured { noteSubscription(to: configured.valueHandle, value.contains { $0 & 0b11 != 0 }) }
    }

    func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        _ = try await ask("writecmd \(word(handle)) \(word(value))")
    }

    func prepareWrite(_ handle: AttributeHandle, _ value: [UInt8], offset: Int) async throws {
        _ = try await ask("prepare \(word(handle)) \(offset) \(word(value))")
    }

    func executePreparedWrites(commit: Bool) async throws {
        _ = try await ask(commit ? "execute" : "cancel")
    }

    // MARK: Updates

    func subscribe(_ handle: AttributeHandle, to kind: UpdateKind) async throws {
        let found = try await knownDatabase().characteristic(at: handle)
        _ = try found?.handle(of: .clientCharacteristicConfiguration)
        _ = try await ask("subscribe \(word(handle)) \(kind == .notification ? "notify" : "indicate")")
        noteSubscription(to: handle, true)
    }

    func unsubscribe(_ handle: AttributeHandle) async throws {
        _ = try await ask("unsubscribe \(word(handle))")
        noteSubscription(to: handle, false)
    }

    private func noteSubscription(to handle: AttributeHandle, _ isSubscribed: Bool) {
        subscribed.withLock { subscribed in
            if isSubscribed { subscribed.insert(handle) } else { subscribed.remove(handle) }
        }
    }

    /// Whether updates of a characteristic, or of any characteristic for `nil`, can be expected.
    private func expectsUpdates(of handle: AttributeHandle?) -> Bool {
        subscribed.withLock { subscribed in
            handle.map(subscribed.contains) ?? !subscribed.isEmpty
        }
    }

    func nextUpdate(of wanted: AttributeHandle) async throws -> ReceivedUpdate {
        try await nextArrival(of: wanted).update
    }

    func nextUpdate() async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate) {
        try await nextArrival(of: nil)
    }

    private func nextArrival(
        of wanted: AttributeHandle?
    ) async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate) {
        while true {
            let kept = state.withLock { state in
                state.arrivals.firstIndex { wanted == nil || $0.characteristic == wanted }
                    .map { state.arrivals.remove(at: $0) }
            }
            if let kept { return kept }
            let event: [Substring]
            do {
                // Without a subscription, only an update that has arrived earlier is expected.
                event = try await ask("next \(expectsUpdates(of: wanted) ? patience : 10)")
            } catch let error as TestCentralError
                where error.code == .timedOut && !expectsUpdates(of: wanted)
            {
                throw TestCentralError(code: .notSubscribed, message: notSubscribed(to: wanted))
            }
            switch event.first {
            case "update" where event.count >= 4:
                let update = ReceivedUpdate(
                    kind: event[2] == "notify" ? .notification : .indication,
                    value: try bytes(event[3])
                )
                let handle = try handle(event[1])
                state.withLock { $0.arrivals.append((handle, update)) }
            case "disconnected":
                throw TestCentralError(code: .disconnected, message: "The connection has ended.")
            default:
                throw TestCentralError(code: .failed, message: event.joined(separator: " "))
            }
        }
    }

    private func notSubscribed(to handle: AttributeHandle?) -> String {
        guard let handle else { return "The central has no subscription." }
        let uuid = state.withLock { $0.database?.characteristic(at: handle)?.uuid.description ?? "unknown" }
        return "The central has not subscribed to characteristic \(uuid) (handle \(handle))."
    }

    func setConfirmsIndications(_ confirms: Bool) async throws {
        _ = try await ask("confirm \(confirms ? "yes" : "no")")
    }

    func confirmIndication() async throws {
        _ = try await ask("confirm once")
    }

    // MARK: Words

    func ask(_ line: String) async throws -> [Substring] {
        try await connectedProcess().ask(line)
    }

    func connectedProcess() throws -> BumbleProcess {
        guard let process = state.withLock({ $0.process }) else {
            throw TestCentralError(code: .notConnected, message: "The central is not connected.")
        }
        return process
    }

    private func word(_ handle: AttributeHandle) -> Substring {
        handle.description.dropFirst(2)
    }

    func word(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "-" }
        let digits = Array("0123456789abcdef".utf8)
        let word = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: word, as: UTF8.self)
    }

    func number(_ word: Substring?) throws -> Int {
        guard let number = word.flatMap({ Int($0) }) else { throw misunderstood("a number") }
        return number
    }

    private func handle(_ word: Substring?) throws -> AttributeHandle {
        guard let number = word.flatMap({ UInt16($0, radix: 16) }) else { throw misunderstood("a handle") }
        return AttributeHandle(rawValue: number)
    }

    private func uuid(_ word: Substring?) throws -> BluetoothUUID {
        guard let uuid = word.flatMap({ BluetoothUUID(String($0)) }) else { throw misunderstood("a UUID") }
        return uuid
    }

    private func descriptor(_ handle: Substring?, _ uuid: Substring?) throws -> DiscoveredDescriptor {
        DiscoveredDescriptor(uuid: try self.uuid(uuid), handle: try self.handle(handle))
    }

    func bytes(_ word: Substring) throws -> [UInt8] {
        guard word != "-" else { return [] }
        let digits = word.compactMap(\.hexDigitValue)
        guard digits.count == word.utf8.count, digits.count % 2 == 0 else { throw misunderstood("bytes") }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    func misunderstood(_ what: String) -> TestCentralError {
        TestCentralError(code: .failed, message: "The central's process answers in other words: \(what).")
    }
}

/// Counts the centrals of a scenario.
private final class Places: Sendable {
    private let next = Mutex(0)

    func take() -> Int {
        next.withLock { next in
            defer { next += 1 }
            return next
        }
    }
}
