import PeripheralBlueZ
import PeripheralConformance
import PeripheralCore
import PeripheralTesting
import Synchronization

/// The programs that run at a time, and the central that looks at all of them.
final class ProgramsStage: Sendable {
    private struct State {
        var programs: [NumberedProgram] = []
        /// What a process serves, by its number as a program.
        var processes: [UInt8: (process: CrashTestProcess, values: ServedValues)] = [:]
    }

    private let central: BumbleCentral
    private let state = Mutex(State())

    init(_ central: BumbleCentral) {
        self.central = central
    }

    /// Starts a program beside those that run.
    func start(_ program: NumberedProgram, checks: Bool = true) async throws {
        state.withLock { $0.programs.append(program) }
        try await program.start()
        if checks { try await checkAll() }
    }

    /// Starts programs at the same moment.
    func startAtOnce(_ programs: [NumberedProgram]) async throws {
        state.withLock { $0.programs += programs }
        try await withThrowingTaskGroup { group in
            for program in programs { group.addTask { try await program.start() } }
            try await group.waitForAll()
        }
        try await checkAll()
    }

    /// Ends programs, one after the other.
    func stop(_ programs: [NumberedProgram]) async {
        for program in programs {
            await program.stop()
            state.withLock { $0.programs.removeAll { $0 === program } }
        }
    }

    /// Starts this program as another process.
    ///
    /// - Returns: The handle of the first value of each service.
    func launch(_ arguments: [String], as number: UInt8) async throws -> [AttributeHandle] {
        let process = try CrashTestProcess(path: "/proc/self/exe", arguments: arguments)
        state.withLock { $0.processes[number] = (process, ServedValues(program: number, handles: [])) }
        return try await awaitHandles(of: number)
    }

    /// Waits until a process prints its handles.
    func awaitHandles(of number: UInt8) async throws -> [AttributeHandle] {
        let words = try await words(after: "at", from: number)
        let handles = words.map { service in
            service.split(separator: ",").compactMap {
                UInt16($0, radix: 16).map(AttributeHandle.init(rawValue:))
            }
        }
        state.withLock { $0.processes[number]?.values = ServedValues(program: number, handles: handles) }
        return handles.compactMap(\.first)
    }

    /// Waits until a process has stopped itself, because its peripheral is off the air.
    ///
    /// - Returns: The process.
    func awaitAbsence(of number: UInt8) async throws -> CInt {
        try await words(after: "off", from: number).first.flatMap { CInt($0) } ?? 0
    }

    /// Waits for a line that begins with a word; other lines are of the log.
    private func words(after first: String, from number: UInt8) async throws -> [Substring] {
        guard let process = state.withLock({ $0.processes[number]?.process }) else { return [] }
        for await line in process.lines {
            let words = line.split(separator: " ")
            if words.first.map(String.init) == first { return Array(words.dropFirst()) }
        }
        throw Problem("the process of program \(number) has ended by itself")
    }

    /// Kills a process.
    func kill(_ number: UInt8) {
        state.withLock { $0.processes.removeValue(forKey: number) }?.process.kill()
    }

    /// Ends all, as a reboot does, and has bluetoothd begin with an empty database.
    func reboot() async {
        await end()
        await Rig.order(["stop-bluetoothd", "start-bluetoothd"])
    }

    /// Ends all.
    func end() async {
        try? await central.disconnect()
        let (programs, processes) = state.withLock { ($0.programs, $0.processes.keys) }
        await stop(programs)
        for number in processes { kill(number) }
    }

    /// Has the central discover everything, and read every value; each program has to stand where it was, or
    /// to know that it does not.
    func checkAll() async throws {
        for program in state.withLock({ $0.programs }) { try await program.hasMoved() }
        let served = try state.withLock { state in
            try state.programs.map { try $0.expected } + state.processes.values.map(\.values)
        }
        try? await central.disconnect()
        try await central.connect()
        let services = try await central.knownDatabase().applicationServices
        var ranges: [ClosedRange<AttributeHandle>] = []
        for values in served { ranges += try await values.check(in: services, central) }
        try await central.disconnect()
        ranges.sort { $0.lowerBound < $1.lowerBound }
        for (one, other) in zip(ranges, ranges.dropFirst()) where one.upperBound >= other.lowerBound {
            throw Problem("the services at \(one) and \(other) overlap")
        }
        guard services.count == ranges.count else {
            throw Problem("\(services.count) services are found: \(services.map(\.handles)), not \(ranges)")
        }
    }
}
