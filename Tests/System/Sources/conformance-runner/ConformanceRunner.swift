import Glibc
import PeripheralBlueZ
import PeripheralConformance
import PeripheralCore
import PeripheralKit
import PeripheralServiceConformance
import PeripheralTesting
import Subprocess
import Synchronization

/// Runs the conformance suite and that of the ready-made services against the real bluetoothd: the peripheral
/// through `.bluez`, the central on Bumble.
///
/// The runner runs in the virtual machine of `Tests/System/rig`. The environment variable `BLUEZ_VERSION` is
/// the version of bluetoothd, and `BUMBLE_CENTRAL` is the path of `bumble_central.py`. Arguments are words
/// that the name of a scenario has to contain. Options come first:
///
/// - `--beside`: a second program serves the same declaration.
/// - `--part 2/3`: only the second third of the scenarios runs, which is every third one.
/// - `--named NAME...`: only the scenarios with these names run.
/// - `--long`: the scenarios that take long run instead of the others.
///
/// These options run something other than the scenarios:
///
/// - `--advertising legacy`, `--advertising extended`: compares what is on the air with the plans of
///   advertisements, for the kind of adapter that the rig has.
/// - `--faults [ROUNDS [SEED]] [WORD...]`: causes each fault below a peripheral so many times (20). The
///   moments depend on the seed.
/// - `--adapters`: a peripheral is on the second of two adapters while either comes and goes.
/// - `--programs [--brief] [WORD...]`: several programs request the same handles. With `--brief`, they do so
///   in a few ways only.
/// - `--kills [ROUNDS [SEED]]`: kills a program so many times (25) while a central uses it, and judges what
///   each start restores.
/// - `--backpressure [--pairs N] [WORD...]`: counts the values in flight to centrals, each link N times (1).
/// - `--centrals [NUMBER...]`: measures the processor time for reads and notifications of so many centrals
///   (1, 4 and 8).
/// - `--transfer [BYTES [MS/MS/...]] [kept]`: sends a document (200,000 bytes) to centrals on links of these
///   speeds, and checks the memory.
/// - `--silence [ROUNDS]`: the link of one of two subscribers carries nothing for some time, and later until
///   it is lost, so many times (3). The run checks that it recovers, and that the other subscriber receives
///   updates again.
/// - `--changes [COUNT [SEED]] [new]`: adds, removes and replaces services so many times (1,000) while a
///   central is connected, and compares the database, the indications of Service Changed, the objects and the
///   memory. With `new`, services appear that were never present.
/// - `--channels [BYTES [PAIRS]]`: transfers so many bytes (1,000,000) in each direction over L2CAP channels,
///   on links of different speeds, in packets of random lengths, and so many times (1) beside a program in C.
/// - `--document`: prints what is known of the versions, and runs nothing.
@main
struct ConformanceRunner {
    static func main() async throws {
        if CommandLine.arguments.dropFirst() == ["--document"] {
            print(bluezVersionsDocument, terminator: "")
            return
        }
        if let path = KillRun.stateDirectory(in: CommandLine.arguments) {
            return try await KillRun.runProgram(stateDirectory: path)
        }
        if let path = ProgramsRun.stateDirectory(in: CommandLine.arguments) {
            return try await ProgramsRun.runProgram(stateDirectory: path)
        }
        if ProgramsRun.isLateProgram(CommandLine.arguments) { return try await ProgramsRun.runLateProgram() }
        if let name = SecondProgram.scenarioName(in: CommandLine.arguments) {
            for scenario in all where scenario.name == name { await SecondProgram.serve(scenario) }
            return
        }
        if let order = BulkOrder(arguments: CommandLine.arguments) {
            return try await BulkProgram(order).run()
        }
        guard let adapter = DeviceAddress(Rig.adapterAddress), let program = Rig.environment("BUMBLE_CENTRAL")
        else {
            print("BUMBLE_CENTRAL is not set: it has to be the path of bumble_central.py.")
            exit(2)
        }
        guard let version = Rig.environment("BLUEZ_VERSION").flatMap({ BlueZVersion($0) }) else {
            print("BLUEZ_VERSION has to be what bluetoothd --version prints.")
            exit(2)
        }
        print("BlueZ \(version)")
        if CommandLine.arguments.dropFirst().first == "--advertising" {
            let isExtended = CommandLine.arguments.last == "extended"
            try await exit(AdvertisingRun(version, isExtended, adapter).run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--faults" {
            let numbers = CommandLine.arguments.dropFirst(2).compactMap { UInt64($0) }
            let (rounds, seed) = (numbers.first ?? 20, numbers.dropFirst().first ?? .random(in: 0...9999))
            print("seed \(seed)")
            let words = CommandLine.arguments.dropFirst(2).filter { UInt64($0) == nil }
            let faults = Fault.all.filter { fault in
                Set(words.map { Substring($0) }).isSubset(of: "\(fault)".split(separator: " "))
            }
            let run = FaultRun(of: faults, seed: seed, rounds: Int(clamping: max(rounds, 1)), on: adapter)
            try await exit(run.run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--adapters" {
            guard let second = DeviceAddress(Rig.secondAdapterAddress) else { exit(2) }
            try await exit(AdapterRun(first: adapter, adapter: second).run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--programs" {
            var words = CommandLine.arguments.dropFirst(2).map { Substring($0) }
            let isBrief = words.first == "--brief"
            if isBrief { words.removeFirst() }
            try await exit(ProgramsRun(on: adapter, isBrief: isBrief, words).run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--kills" {
            let numbers = CommandLine.arguments.dropFirst(2).compactMap { UInt64($0) }
            let (rounds, seed) = (numbers.first ?? 25, numbers.dropFirst().first ?? .random(in: 0...9999))
            let run = KillRun(seed: seed, rounds: Int(clamping: max(rounds, 1)), on: adapter)
            try await exit(run.run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--backpressure" {
            var words = Array(CommandLine.arguments.dropFirst(2))
            let pairs = words.first == "--pairs" && words.count > 1 ? Int(words[1]) ?? 1 : 1
            if words.first == "--pairs" { words.removeFirst(min(2, words.count)) }
            let run = BackpressureRun(on: adapter, pairs: max(pairs, 1), reachesEach: version >= "5.76")
            try await exit(run.run(program, words) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--centrals" {
            let counts = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }.filter { $0 > 0 }
            let run = CentralsRun(on: adapter, counts: counts.isEmpty ? [1, 4, 8] : counts)
            try await exit(run.run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--changes" {
            let numbers = CommandLine.arguments.dropFirst(2).compactMap { UInt64($0) }
            let (count, seed) = (numbers.first ?? 1_000, numbers.dropFirst().first ?? .random(in: 0...9999))
            print("seed \(seed)")
            let run = ChangesRun(
                on: adapter,
                count: Int(clamping: max(count, 1)),
                seed: seed,
                hasNew: CommandLine.arguments.last == "new"
            )
            try await exit(run.run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--channels" {
            let numbers = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
            let run = ChannelRun(
                size: max(numbers.first ?? 1_000_000, 1),
                pairs: max(numbers.dropFirst().first ?? 1, 1),
                on: adapter
            )
            try await exit(run.run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--silence" {
            let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 3
            try await exit(SilenceRun(on: adapter, rounds: max(rounds, 1)).run(program) ? 0 : 1)
        }
        if CommandLine.arguments.dropFirst().first == "--transfer" {
            let words = CommandLine.arguments.dropFirst(2)
            let speeds = words.dropFirst().first?.split(separator: "/").compactMap { Double($0) } ?? []
            let run = TransferRun(
                size: words.first.flatMap { Int($0) } ?? 200_000,
                packetTimes: speeds.isEmpty ? [0, 1, 2, 5] : speeds,
                isKept: words.last == "kept",
                on: adapter
            )
            try await exit(run.run(program) ? 0 : 1)
        }
        var words = CommandLine.arguments.dropFirst().map { Substring($0) }
        let second = words.first == "--beside" ? SecondProgram() : nil
        if second != nil { words.removeFirst() }
        let scenarios = scenarios(for: words)
        // The program is asked, so that what it answers is seen.
        guard await Rig.order(["repairing confirm"]) else {
            print("The rig does not have bluetoothd ask before a bond is replaced.")
            exit(2)
        }
        let failures = Mutex(0)
        try await CentralPool.run(program) { pool in
            for (number, scenario) in scenarios.enumerated() {
                if number > 0, number.isMultiple(of: Self.scenariosPerDaemon) { await restartDaemon() }
                if await !Rig.order(["check-bluetoothd"]) {
                    // It does at times when a central leaves it; that is no fault of the next scenario.
                    print("      bluetoothd has crashed or hangs, and is started again")
                    await Rig.order(["kill-bluetoothd", "start-bluetoothd"])
                }
                let start = ContinuousClock.now
                let result = await run(scenario, as: version, on: adapter, with: pool, beside: second)
                await second?.stop()
                let time = "\((ContinuousClock.now - start) / .seconds(1))".prefix(4)
                switch result {
                case .success(nil): print("ok    \(scenario) (\(time) s)")
                case .success(let difference?):
                    print("ok    \(scenario) (\(time) s): known, \(difference.reason)")
                case .failure(let error):
                    print("FAIL  \(scenario) (\(time) s): \(error)")
                    failures.withLock { $0 += 1 }
                }
                fflush(nil)
                switch result {
                case .success(nil): break
                case .success(let difference?): if difference.endsDaemon { await restartDaemon() }
                case .failure: await restartDaemon()
                }
                if await pool.forgetBonds() { await Rig.order(["forget"]) }
            }
        }
        let failed = failures.withLock { $0 }
        if let second {
            await print(
                "      a second program has served \(second.served) times, and was refused \(second.refused) times"
            )
        }
        print("\(scenarios.count - failed) passed, \(failed) failed")
        exit(failed == 0 && !scenarios.isEmpty ? 0 : 1)
    }

    private static let all = ConformanceSuite.scenarios + ServiceConformance.scenarios

    /// The number of scenarios after which bluetoothd is started again.
    ///
    /// Each scenario uses up handles. From 0x0400 on, bluetoothd no longer changes the Database Hash.
    private static let scenariosPerDaemon = 40

    /// The scenarios that the arguments ask for.
    private static func scenarios(for arguments: [Substring]) -> [Scenario] {
        var words = arguments[...]
        if words.first == "--long" {
            words.removeFirst()
            return ConformanceSuite.longScenarios.filter { $0.isMeant(by: words) }
        }
        if words.first == "--named" {
            return all.filter { words.dropFirst().contains(Substring($0.name)) }
        }
        var part = (number: 1, of: 1)
        if words.first == "--part" {
            words.removeFirst()
            let numbers = words.popFirst()?.split(separator: "/").compactMap { Int($0) } ?? []
            guard numbers.count == 2, numbers[0] >= 1, numbers[0] <= numbers[1] else {
                print("--part wants a number and how many parts there are: --part 2/3")
                exit(2)
            }
            part = (numbers[0], numbers[1])
        }
        let meant = all.filter { $0.isMeant(by: words) }
        return meant.indices.filter { $0 % part.of == part.number - 1 }.map { meant[$0] }
    }

    /// Has the rig start bluetoothd again, so that what was done to one does not show in the next scenario.
    private static func restartDaemon() async {
        await Rig.order(["stop-bluetoothd", "start-bluetoothd"])
    }

    /// Runs a scenario within its time.
    private static func run(
        _ scenario: Scenario,
        as version: BlueZVersion,
        on adapter: DeviceAddress,
        with pool: CentralPool,
        beside second: SecondProgram?
    ) async -> Result<KnownDifference?, any Error> {
        await withTaskGroup { group in
            group.addTask { () -> Result<KnownDifference?, any Error> in
                do {
                    let difference = try await scenario.run(on: .bluez(recovery: .never), as: version) {
                        peripheral in
                        try await second?.start(beside: scenario)
                        return BumbleCentral(of: peripheral, on: adapter, from: pool)
                    }
                    return .success(difference)
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                // The longest takes 70 s beside other machines on the same processors.
                try? await Task.sleep(for: .seconds(150))
                let message = "The scenario did not end within 150 s."
                return .failure(TestCentralError(code: .timedOut, message: message))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(CancellationError())
        }
    }
}

extension Scenario {
    /// Whether its name has all these words.
    fileprivate func isMeant(by words: ArraySlice<Substring>) -> Bool {
        Set(words).isSubset(of: name.split(separator: " "))
    }
}
