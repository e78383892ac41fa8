internal import PeripheralDBus

/// Runs work of the parts of ``Centrals`` later on the event loop, in a known order with bluetoothd's
/// actions.
///
/// The object stores work under a number. Only the number crosses to the connection or to another thread. If
/// the centrals are released, stored work never runs.
final class DaemonTurns {
    /// The time in which bluetoothd does everything that the disconnection of a central causes.
    private static let moment = Duration.milliseconds(250)

    private let connection: BusConnection
    private weak var centrals: Centrals?
    private var waiting: [Int: (Result<Void, BusError>) -> Void] = [:]
    private var lastNumber = 0

    init(on connection: BusConnection) {
        self.connection = connection
    }

    /// Sets the actor that resumes work.
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

    /// Runs the body when bluetoothd has handled all messages that were sent to it so far.
    ///
    /// bluetoothd handles messages in order. The body runs after all reports that bluetoothd has sent before
    /// its answer, and before all later reports.
    func onAnswer(_ body: @escaping () -> Void) {
        ask(for: store { _ in body() })
    }

    /// Runs the body after the next answer of bluetoothd, and after the ends of sockets before that answer.
    func afterAnswer(_ body: @escaping () -> Void) {
        onAnswer { [loop = connection.loop] in
            // The loop notices the end of a socket before it runs any timer.
            _ = loop.schedule(after: .zero) { body() }
        }
    }

    /// Runs the body when all effects of the disconnection of a central have arrived.
    ///
    /// The interval gives bluetoothd time for these effects. The answer after the interval covers a slow bus
    /// and a busy loop, because earlier reports of bluetoothd arrive before the answer.
    func afterMoment(_ body: @escaping () -> Void) {
        _ = connection.loop.schedule(after: Self.moment) { [weak self] in self?.afterAnswer(body) }
    }

    /// Runs the body when at most a given number of bytes waits for the bus, or when the bus has failed.
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

    /// Requests an answer of bluetoothd, and runs the work with a number after the answer.
    func ask(for number: Int) {
        connection.assumeIsolated { [weak centrals] connection in
            // bluetoothd sends its pending reports before this answer, but after an answer to `Peer.Ping`.
            // The arguments are well-formed.
            try? connection.call(BlueZ.name, "/", BlueZ.introspectable, "Introspect") { answer in
                switch answer {
                case .failure(.disconnected): break
                // bluetoothd has not read the request yet.
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
