internal import PeripheralDBus

/// Runs work of the parts of ``Centrals`` later on the event loop, in a known order with what bluetoothd
/// does.
///
/// Work is stored here under a number, and only the number crosses to the connection or to another thread.
/// Work that still waits when the centrals are released never runs.
final class DaemonTurns {
    /// In this time, bluetoothd does everything that the disconnection of a central causes.
    private static let moment = Duration.milliseconds(250)

    private let connection: BusConnection
    private weak var centrals: Centrals?
    private var waiting: [Int: (Result<Void, BusError>) -> Void] = [:]
    private var lastNumber = 0

    init(on connection: BusConnection) {
        self.connection = connection
    }

    /// Sets the actor through which work is resumed.
    func begin(for centrals: Centrals) {
        self.centrals = centrals
    }

    /// Runs the work with a number.
    func resume(_ number: Int, with result: Result<Void, BusError> = .success(())) {
        waiting.removeValue(forKey: number)?(result)
    }

    /// Runs the body after an interval.
    func schedule(after interval: Duration, _ body: @escaping () -> Void) -> LoopSource {
        connection.loop.schedule(after: interval, body)
    }

    /// Runs the body in the next turn of the loop.
    func execute(_ body: @escaping () -> Void) {
        guard let centrals else { return }
        let number = store { _ in body() }
        connection.loop.execute { centrals.assumeIsolated { $0.resume(number) } }
    }

    /// Runs the body when bluetoothd has taken everything that it was sent so far; it takes messages in
    /// order.
    ///
    /// The body runs after all reports that bluetoothd has sent before, and before all that it sends later.
    func onAnswer(_ body: @escaping () -> Void) {
        ask(for: store { _ in body() })
    }

    /// Runs the body after the next answer of bluetoothd, and after the ends of sockets that came with it.
    func afterAnswer(_ body: @escaping () -> Void) {
        onAnswer { [loop = connection.loop] in
            // A socket that has ended in the meantime is found ended before any timer is due.
            _ = loop.schedule(after: .zero) { body() }
        }
    }

    /// Runs the body when everything has arrived that the disconnection of a central causes.
    ///
    /// The moment is for bluetoothd. The answer after it covers a slow bus and a busy loop: reports that
    /// bluetoothd has sent until then come before the answer.
    func afterMoment(_ body: @escaping () -> Void) {
        _ = connection.loop.schedule(after: Self.moment) { [weak self] in self?.afterAnswer(body) }
    }

    /// Runs the body when the bus has taken all but some bytes of what it was sent, or cannot take it.
    func whenOutgoing(isAtMost bound: Int, _ body: @escaping (Result<Void, BusError>) -> Void) {
        guard let centrals else { return }
        let number = store(body)
        Task { [connection] in
            let result: Result<Void, BusError>
            do throws(BusError) {
                try await connection.waitUntilOutgoing(isAtMost: bound)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await centrals.resume(number, with: result)
        }
    }

    /// Asks bluetoothd for an answer, upon which the work with a number runs.
    func ask(for number: Int) {
        connection.assumeIsolated { [weak centrals] connection in
            // The arguments are well-formed.
            try? connection.call(BlueZ.name, "/", BlueZ.peer, "Ping") { answer in
                switch answer {
                case .failure(.disconnected): break
                // bluetoothd has not read the question yet.
                case .failure(.timedOut): centrals?.assumeIsolated { $0.ask(for: number) }
                default: centrals?.assumeIsolated { $0.resume(number) }
                }
            }
        }
    }

    private func store(_ body: @escaping (Result<Void, BusError>) -> Void) -> Int {
        lastNumber += 1
        waiting[lastNumber] = body
        return lastNumber
    }
}
