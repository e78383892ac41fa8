internal import PeripheralCore
public import PeripheralKit
private import Synchronization

/// A Bluetooth stack in memory: a `Peripheral` on it is on the air of the ``VirtualCentral``s made by it.
///
/// `Peripheral.test(mtu:logger:_:)` is the short way. This is the long one, for a test
/// that wants its own logger, or the code that calls `run`:
///
/// ```swift
/// let backend = InMemoryBackend()
/// try await peripheral.run(on: backend) { session in
///     let central = backend.makeCentral(of: peripheral)
///     try await central.connect()
///     …
/// }
/// ```
///
/// The server behaves as that of BlueZ 5.87. Handlers run in tasks of their own. Updates reach the centrals at
/// once: there is no limit to their speed, and each keeps its updates until the test takes them.
public struct InMemoryBackend: PeripheralBackend {
    private let server: VirtualGATTServer

    /// Makes a stack of its own, with nothing on the air.
    public init() {
        server = VirtualGATTServer(deviceName: "Virtual", version: .v5_87, address: .virtualHost)
    }

    /// Makes a central on the air of this stack, not yet connected.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral that it looks for; it tells where a `Characteristic` stands.
    ///   - patience: How long it waits for an update before it throws.
    ///   - clock: What measures that time.
    /// - Returns: The central.
    public func makeCentral(
        of peripheral: Peripheral,
        patience: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> VirtualCentral {
        VirtualCentral(of: peripheral, on: server, patience: patience, clock: clock)
    }

    /// Publishes the peripheral until the link is told to stop, or the task is cancelled.
    public func serve(_ publication: Publication, for host: any PeripheralHost) async throws {
        let application: ApplicationID
        let data: VirtualAdvertisement
        do {
            application = try server.add(publication.table, servedBy: HostProvider(host: host))
            let encoded = try publication.advertisement.payload.encoded()
            data = VirtualAdvertisement(
                advertisingData: encoded.advertisingData.bytes,
                scanResponse: encoded.scanResponse.bytes
            )
        } catch {
            throw PeripheralError(code: .rejected, message: "The stack in memory: \(error)", cause: error)
        }
        host.handle(.handlesAssigned(server.handles(of: application)))
        let advertisement = server.advertise(data)
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        host.handle(.published(InMemoryLink(server: server, application: application, stopped: stop)))
        // Ends when the link is stopped, or this task is cancelled.
        for await _ in stopped {}
        server.withdraw(advertisement)
        await server.remove(application)
    }
}

/// The way from a running peripheral to the stack in memory.
private struct InMemoryLink: BackendLink {
    let server: VirtualGATTServer
    let application: ApplicationID
    let stopped: AsyncStream<Never>.Continuation

    func send(_ update: Update) async throws {
        guard server.send(update.value, of: update.characteristic, in: application) else {
            throw PeripheralError(code: .stopped, message: "The peripheral is no longer published.")
        }
    }

    func stop() {
        stopped.finish()
    }
}

/// Serves the attributes by the running peripheral.
private struct HostProvider: VirtualAttributeProvider {
    let host: any PeripheralHost

    func read(_ request: ReadRequest) async -> Result<[UInt8], ATTError> {
        switch host.read(request) {
        case .immediate(let result): result
        case .deferred(let start):
            await withCheckedContinuation { answer in start { answer.resume(returning: $0) } }
        }
    }

    func write(_ request: WriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        var request = request
        request.expectsResponse = withResponse
        return switch host.write(request) {
        case .immediate(let result): result
        case .deferred(let start):
            await withCheckedContinuation { answer in start { answer.resume(returning: $0) } }
        }
    }

    func subscriptionChanged(_ change: SubscriptionChange) {
        if change.to == 0 {
            host.handle(.unsubscribed(change.characteristic, by: change.central))
        } else {
            host.handle(.subscribed(change.characteristic, by: change.central))
        }
    }

    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central) {}
}
