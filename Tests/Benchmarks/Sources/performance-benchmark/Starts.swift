/// What it takes to start, and how much memory a peripheral uses when it is registered.
struct Starts {
    private static let characteristics = 2_000

    static func lines(_ count: Int, watchedBy daemon: Daemon) throws -> [Line] {
        let one = try starts(count, characteristics: 1, daemon)
        let many = try starts(count, characteristics: characteristics, daemon)
        return [
            Line(
                "start of one service",
                "until registered",
                in: .milliseconds,
                one.times,
                goal: .atMost(6e6)
            ),
            Line(
                "start of 2,000 characteristics",
                "until registered",
                in: .milliseconds,
                many.times,
                goal: .atMost(80e6)
            ),
            Line("one service", "resident memory", in: .megabytes, one.memory, goal: .atMost(10e6)),
            Line(
                "each further characteristic",
                "resident memory",
                in: .kilobytes,
                zip(one.memory, many.memory).map { ($1 - $0) / Double(characteristics - 1) },
                goal: .atMost(1.5e3)
            ),
        ]
    }

    private static func starts(
        _ count: Int,
        characteristics: Int,
        _ daemon: Daemon
    ) throws -> (times: [Double], memory: [Double]) {
        var result: (times: [Double], memory: [Double]) = ([], [])
        // The first one loads the program from the disk.
        for round in 0...count {
            let clock = ContinuousClock()
            let start = clock.now
            let server = try daemon.startPeripheral("characteristics", "\(characteristics)")
            let time = (clock.now - start) / .nanoseconds(1)
            if round > 0 {
                result.times.append(time)
                let memory = server.residentMemory
                guard memory > 0 else { throw MeasurementError(description: "the peripheral has ended") }
                result.memory.append(Double(memory))
            }
            server.end()
        }
        return result
    }
}
