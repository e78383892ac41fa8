import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Serves every attribute with one value, and records what it is asked.
final class RecordingProvider: VirtualAttributeProvider {
    private let value: [UInt8]
    private let refusal: ATTError?
    private let log = Mutex<[String]>([])

    init(value: [UInt8] = [], refusal: ATTError? = nil) {
        self.value = value
        self.refusal = refusal
    }

    /// What was asked since the last call, a line each.
    func takeLog() -> [String] {
        log.withLock { log in
            defer { log = [] }
            return log
        }
    }

    private func record(_ line: String) {
        log.withLock { $0.append(line) }
    }

    func read(_ request: BackendReadRequest) async -> Result<[UInt8], ATTError> {
        record("read \(request.attribute) at \(request.offset)")
        if let refusal { return .failure(refusal) }
        guard request.offset <= value.count else { return .failure(.invalidOffset) }
        return .success(Array(value[request.offset...]))
    }

    func write(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        let how = withResponse ? "" : " without response"
        record("write \(request.attribute) at \(request.offset): \(request.value)\(how)")
        return refusal.map { .failure($0) } ?? .success(())
    }

    func authorizeWrite(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        record(
            "authorize \(request.attribute) at \(request.offset)" + (withResponse ? "" : " without response")
        )
        return refusal.map { .failure($0) } ?? .success(())
    }

    func subscriptionChanged(_ change: SubscriptionChange) {
        let cause = change.cause == .written ? "" : ", \(change.cause)"
        record("configure \(change.characteristic): \(change.from) to \(change.to)\(cause)")
    }

    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central) {
        record("confirm \(characteristic)")
    }
}

/// The central's end of a connection, which records what arrives.
final class RecordingLink: VirtualLink {
    private let log = Mutex<[String]>([])
    private let confirmsIndications: Bool

    init(confirmsIndications: Bool = true) {
        self.confirmsIndications = confirmsIndications
    }

    var lines: [String] { log.withLock(\.self) }

    func received(_ update: ReceivedUpdate, of handle: AttributeHandle) -> Bool {
        log.withLock { $0.append("\(update.kind) \(handle): \(update.value)") }
        return confirmsIndications
    }

    func disconnected() {
        log.withLock { $0.append("disconnected") }
    }
}

/// A server on the air, with one application.
struct ServerFixture {
    let server: VirtualGATTServer
    let provider: RecordingProvider
    let application: ApplicationID

    /// Of the services, the first gets the handle 0x0015.
    init(
        _ services: [ServiceDescription],
        provider: RecordingProvider = RecordingProvider(),
        authorizing attributes: Set<AttributeHandle> = [],
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.provider = provider
        server = VirtualGATTServer(deviceName: "Fixture", clock: clock)
        application = try server.add(
            AttributeTable(services: services),
            servedBy: provider,
            authorizing: attributes
        )
        _ = server.advertise(VirtualAdvertisement(advertisingData: [], scanResponse: []))
    }

    /// One service of characteristics with these properties.
    init(
        _ properties: CharacteristicProperties...,
        provider: RecordingProvider = RecordingProvider(),
        authorizing attributes: Set<AttributeHandle> = [],
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        let characteristics = properties.map { CharacteristicDescription(uuid: 0x2A19, properties: $0) }
        try self.init(
            [ServiceDescription(uuid: 0x180F, characteristics: characteristics)],
            provider: provider,
            authorizing: attributes,
            clock: clock
        )
    }

    func connect(
        mtu: Int = 23,
        security: SecurityLevel = .open,
        over link: RecordingLink = RecordingLink()
    ) throws -> ConnectionID {
        let central = Central(address: server.makeCentralAddress(), mtu: mtu)
        return try server.connect(central, security: security, over: link)
    }

    /// A central that meets the server, whose table of declared characteristics is empty.
    func makeCentral() -> VirtualCentral {
        VirtualCentral(
            of: Peripheral("Fixture") {},
            on: server,
            patience: .seconds(5),
            clock: ContinuousClock()
        )
    }
}
