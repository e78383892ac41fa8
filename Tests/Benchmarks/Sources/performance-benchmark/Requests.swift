import CBenchmark

/// Requests for one characteristic, and what they may cost as multiples of C.
struct Requests {
    var name: String
    var value: Value
    var method = benchmark_read
    var size: Int
    var latency: Double?
    var processorTimeAlone: Double?
    var processorTime: Double
    /// The least rate.
    var rate: Double

    static let all = [
        constant(.constant20, size: 20),
        constant(.constant512, size: 512),
        handler("handler, 20 bytes", .handler20, size: 20),
        handler("handler, 512 bytes", .handler512, size: 512),
        handler("handler, also writable and notifying, 20 bytes", .versatile20, size: 20),
        Requests(
            name: "write with a handler, 512 bytes",
            value: .written512,
            method: benchmark_write,
            size: 512,
            processorTime: 1.15,
            rate: 0.95
        ),
    ]

    private static func constant(_ value: Value, size: Int) -> Requests {
        Requests(
            name: "constant, \(size) bytes",
            value: value,
            size: size,
            latency: 1.00,
            processorTimeAlone: 1.10,
            processorTime: 1.05,
            rate: 0.95
        )
    }

    private static func handler(_ name: String, _ value: Value, size: Int) -> Requests {
        Requests(
            name: name,
            value: value,
            size: size,
            latency: 1.05,
            processorTimeAlone: 1.20,
            processorTime: 1.15,
            rate: 0.95
        )
    }

    func lines(_ count: Int, of swift: Server, and reference: Server, askedBy daemon: Daemon) throws -> [Line]
    {
        let (ours, theirs) = try pairs(count, { try sample($0, daemon) }, swift, reference)
        func line(
            _ quantity: String,
            in unit: Unit,
            _ part: (Sample) -> Double,
            _ goal: Goal
        ) -> Line {
            Line(name, quantity, in: unit, ours.map(part), of: theirs.map(part), goal: goal)
        }
        return [
            latency.map { line("latency", in: .microseconds, \.latency, .atMost($0)) },
            processorTimeAlone.map {
                line("processor time, one at a time", in: .microseconds, \.processorTimeAlone, .atMost($0))
            },
            line("processor time, 32 in flight", in: .microseconds, \.processorTime, .atMost(processorTime)),
            line("rate, 32 in flight", in: .perSecond, \.rate, .atLeast(rate)),
        ].compactMap { $0 }
    }

    private struct Sample {
        /// The median time of a call, in nanoseconds.
        var latency: Double
        /// The server's processor time for a call, in nanoseconds.
        var processorTimeAlone: Double
        var processorTime: Double
        /// Calls in a second.
        var rate: Double
    }

    private func sample(_ server: Server, _ daemon: Daemon) throws -> Sample {
        let (alone, together) = (500, 4_000)
        var latencies = [Int64](repeating: 0, count: alone)
        let start = server.processorTime
        try request(server, daemon, alone, inFlight: 1, &latencies)
        let middle = server.processorTime
        let duration = try ContinuousClock().measure {
            try request(server, daemon, together, inFlight: 32, nil)
        }
        return Sample(
            latency: Quartiles(latencies.map(Double.init)).median,
            processorTimeAlone: Double(middle - start) / Double(alone),
            processorTime: Double(server.processorTime - middle) / Double(together),
            rate: Double(together) / (duration / .seconds(1))
        )
    }

    private func request(
        _ server: Server,
        _ daemon: Daemon,
        _ calls: Int,
        inFlight: Int,
        _ latencies: UnsafeMutablePointer<Int64>?
    ) throws {
        let path = server.path(of: value)
        guard
            benchmark_daemon_request(
                daemon.handle,
                server.name,
                path,
                method,
                size,
                calls,
                inFlight,
                latencies
            ) == 0
        else { throw MeasurementError(description: "\(name): a wrong answer") }
    }
}
