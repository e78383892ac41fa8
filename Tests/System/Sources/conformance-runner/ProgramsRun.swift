import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting

/// Has several programs request handles on the same adapter, and looks whether each keeps its services and
/// its answers.
///
/// Most of them run in this process. One that is killed is this program, started with other arguments.
struct ProgramsRun {
    private static let command = "--killed-program"
    private static let lateCommand = "--late-program"
    /// The number of values of the program that returns late.
    ///
    /// bluetoothd has no room for them before the claims, and places them where other programs begin.
    private static let lateSize = 115
    /// The number of the program that is a process of its own.
    private static let other: UInt8 = 7
    /// Where the first value of a program stands that was the first to choose.
    private static let firstPlace: AttributeHandle = 0x0102
    /// Ten times what a step takes on a machine that does nothing else.
    private static let limit = Duration.seconds(180)

    private struct Step: Sendable {
        var name: String
        /// Whether it is a part of the brief form.
        var isBrief = false
        var body: @Sendable (ProgramsStage) async throws -> Void
    }

    private let adapter: DeviceAddress
    private let steps: [Step]

    /// - Parameters:
    ///   - adapter: The adapter.
    ///   - isBrief: Whether only a few steps are run, one of each kind.
    ///   - words: What the name of a step has to contain.
    init(on adapter: DeviceAddress, isBrief: Bool, _ words: [Substring]) {
        self.adapter = adapter
        steps = Self.steps.filter { step in
            (!isBrief || step.isBrief) && Set(words).isSubset(of: step.name.split(separator: " "))
        }
    }

    /// Where the program that is killed has its state; `nil` when this is not that program.
    static func stateDirectory(in arguments: [String]) -> String? {
        arguments.count == 3 && arguments[1] == command ? arguments[2] : nil
    }

    /// Is the program that is killed.
    static func runProgram(stateDirectory: String) async throws {
        let program = NumberedProgram(other, store: StateDirectory(path: stateDirectory))
        try await program.start()
        try program.printHandles()
        // It has no end of its own.
        for await _ in AsyncStream<Void>.makeStream().stream {}
    }

    /// Whether this is the program that returns late.
    static func isLateProgram(_ arguments: [String]) -> Bool { arguments.dropFirst() == [lateCommand] }

    /// Is the program that returns late: it stops its process when it is off the air.
    static func runLateProgram() async throws {
        // The kernel can end a process group with a stopped process when another process of the group ends.
        setpgid(0, 0)
        let program = NumberedProgram(other, services: 1, size: lateSize, isPreserved: false)
        try await program.start()
        try program.printHandles()
        await program.reaches(isOnTheAir: false)
        print("off", getpid())
        fflush(nil)
        raise(SIGSTOP)
        await program.reaches(isOnTheAir: true)
        try program.printHandles()
        for await _ in AsyncStream<Void>.makeStream().stream {}
    }

    /// Runs all steps, and exits with the result.
    ///
    /// The result is success if no program has lost anything. Returns `false` if the steps could not run.
    func run(_ program: String) async throws -> Bool {
        try await CentralPool.run(program) { pool in
            var failed = 0
            let clock = ContinuousClock()
            for step in steps {
                let stage = ProgramsStage(BumbleCentral(of: Peripheral("Any") {}, on: adapter, from: pool))
                let start = clock.now
                do {
                    try await within(Self.limit) { try await step.body(stage) }
                    print("ok    \(step.name) (\("\((clock.now - start) / .seconds(1))".prefix(4)) s)")
                } catch {
                    failed += 1
                    print("FAIL  \(step.name): \(error)")
                    // What was done to one bluetoothd does not show in the next step.
                    await stage.reboot()
                }
                fflush(nil)
                await stage.end()
            }
            print("\(steps.count - failed) passed, \(failed) failed")
            fflush(nil)
            // Whatever is stuck must not hide it.
            exit(failed == 0 && !steps.isEmpty ? 0 : 1)
        }
        return false
    }

    private static let steps =
        orders(of: 2).map { order in
            Step(name: "two programs, in the order \(order)") { try await startInOrder(order, $0) }
        }
        + orders(of: 3).map { order in
            Step(name: "three programs, in the order \(order)") { try await startInOrder(order, $0) }
        }
        + [
            Step(name: "two that each ran alone", body: startAfterRunningAlone),
            Step(name: "two at once") { try await startAtOnce(2, $0) },
            Step(name: "three at once", isBrief: true) { try await startAtOnce(3, $0) },
            Step(name: "each of three ends and starts again", body: restartEach),
            Step(name: "bluetoothd is started again below three", body: restartDaemon),
            Step(name: "pinned services", body: pinServices),
            Step(name: "a large service around a pinned one", isBrief: true, body: encloseThePinned),
            Step(name: "a large service around a preserved one", body: encloseThePreserved),
            Step(name: "one of three is killed", isBrief: true, body: killOne),
            Step(name: "one returns after another has checked its handles", body: returnLate),
        ]

    private static func orders(of count: Int) -> [[Int]] {
        guard count > 1 else { return [[1]] }
        return orders(of: count - 1).flatMap { order in
            (0...order.count).map { place in Array(order[..<place] + [count] + order[place...]) }
        }
    }

    private static func programsOfEarlierVersion(_ count: Int) async throws -> [NumberedProgram] {
        let programs = (1...count).map { NumberedProgram(UInt8($0)) }
        for program in programs { try await program.preserveAsEarlierVersion() }
        return programs
    }

    /// The first keeps its handles; the others move, and keep their new ones in any order, also after a
    /// reboot.
    private static func startInOrder(_ order: [Int], _ stage: ProgramsStage) async throws {
        let programs = try await programsOfEarlierVersion(order.count)
        for (place, number) in order.enumerated() {
            let program = programs[number - 1]
            try await stage.start(program, checks: place == order.count - 1)
            guard try await program.hasMoved() == (place > 0) else {
                throw Problem("program \(number) is at \(try program.places)")
            }
        }
        try expect(programs[order[0] - 1], at: firstPlace)
        let places = try programs.map { try $0.places }
        await stage.reboot()
        for number in order.reversed() {
            try await stage.start(programs[number - 1], checks: number == order[0])
        }
        try expect(programs, at: places)
    }

    /// Each was alone with bluetoothd at 0x0100, and has looked there for others already.
    private static func startAfterRunningAlone(_ stage: ProgramsStage) async throws {
        let programs = [NumberedProgram(1), NumberedProgram(2)]
        for program in programs {
            try await stage.start(program)
            try expect(program, at: firstPlace)
            await stage.stop([program])
        }
        try await stage.start(programs[1])
        try expect(programs[1], at: firstPlace)
        try await stage.start(programs[0])
        guard try await programs[0].hasMoved() else { throw Problem("the second has not moved") }
    }

    /// One keeps its handles; all keep what they then have.
    private static func startAtOnce(_ count: Int, _ stage: ProgramsStage) async throws {
        let programs = try await programsOfEarlierVersion(count)
        try await stage.startAtOnce(programs)
        var unmoved = 0
        for program in programs where try await !program.hasMoved() { unmoved += 1 }
        guard unmoved == 1 else { throw Problem("\(unmoved) programs have kept their handles") }
        let places = try programs.map { try $0.places }
        for reboots in [false, true] {
            if reboots { await stage.reboot() } else { await stage.stop(programs) }
            try await stage.startAtOnce(programs)
            try expect(programs, at: places)
        }
    }

    private static func restartEach(_ stage: ProgramsStage) async throws {
        let programs = try await programsOfEarlierVersion(3)
        try await stage.startAtOnce(programs)
        let places = try programs.map { try $0.places }
        for leaving in [[0], [1], [2], [2, 0]] {
            await stage.stop(leaving.map { programs[$0] })
            try await stage.checkAll()
            for number in leaving { try await stage.start(programs[number], checks: number == leaving.last) }
            try expect(programs, at: places)
        }
    }

    private static func restartDaemon(_ stage: ProgramsStage) async throws {
        let programs = try await programsOfEarlierVersion(3)
        try await stage.startAtOnce(programs)
        let places = try programs.map { try $0.places }
        for order in ["stop-bluetoothd", "kill-bluetoothd"] {
            await Rig.order([order])
            for program in programs { await program.reaches(isOnTheAir: false) }
            await Rig.order(["start-bluetoothd"])
            for program in programs { await program.reaches(isOnTheAir: true) }
            try await stage.checkAll()
            try expect(programs, at: places)
        }
    }

    /// A pinned service moves no other program, and no other program moves it.
    ///
    /// A preserved service moves if another program was there first.
    private static func pinServices(_ stage: ProgramsStage) async throws {
        let (low, high) = (
            NumberedProgram(1, services: 1, pinned: 0x0100), NumberedProgram(2, services: 1, pinned: 0x0110)
        )
        for order in [[low, high], [high, low]] {
            for program in order { try await stage.start(program) }
            try expect([low, high], at: [[0x0102], [0x0112]])
            await stage.end()
        }
        let preserved = try await programsOfEarlierVersion(1)[0]
        for first in [low, preserved] {
            try await stage.start(first)
            do {
                try await NumberedProgram(3, services: 1, pinned: 0x0100).start(recovery: .never)
                throw Problem("two programs have a service at 0x0100")
            } catch let error as PeripheralError where error.code == .rejected {
                try await stage.checkAll()
            }
            await stage.stop([first])
        }
        try await stage.startAtOnce([low, high])
        try await stage.start(preserved)
        guard try await preserved.hasMoved() else {
            throw Problem("the one with preserved handles has not moved")
        }
        try expect([low, high], at: [[0x0102], [0x0112]])
    }

    /// 61 handles from 0x0100 on.
    private static func encloseThePinned(_ stage: ProgramsStage) async throws {
        let large = NumberedProgram(9, services: 1, size: 30)
        let small = NumberedProgram(1, services: 1, pinned: 0x0122)
        try await large.preserveAsEarlierVersion()
        try await stage.start(small)
        try await stage.start(large)
        guard try await large.hasMoved() else { throw Problem("the large service has not moved") }
        try expect(small, at: 0x0124)
    }

    private static func encloseThePreserved(_ stage: ProgramsStage) async throws {
        for startsWithLarge in [false, true] {
            let (neighbor, small) = (NumberedProgram(1, services: 1), NumberedProgram(2, services: 1))
            for program in [neighbor, small] { try await program.preserveAsEarlierVersion() }
            for program in [neighbor, small] { try await stage.start(program, checks: false) }
            let place = try small.places[0]
            guard (0x0104...0x013A).contains(place.rawValue) else { throw Problem("it is at \(place)") }
            await stage.reboot()
            let large = NumberedProgram(9, services: 1, size: 30)
            try await large.preserveAsEarlierVersion()
            for program in startsWithLarge ? [large, small] : [small, large] {
                try await stage.start(program)
            }
            try expect(startsWithLarge ? large : small, at: startsWithLarge ? firstPlace : place)
            guard try await (startsWithLarge ? small : large).hasMoved() else {
                throw Problem("the second has not moved")
            }
            await stage.end()
        }
    }

    /// bluetoothd removes what is left of one that is killed, and nothing else.
    private static func killOne(_ stage: ProgramsStage) async throws {
        var template = Array("/tmp/programs-XXXXXX".utf8CString)
        guard let directory = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw Problem("no directory")
        }
        let others = try await programsOfEarlierVersion(2)
        try await stage.start(others[0], checks: false)
        let place = try await stage.launch([command, directory], as: other)
        try await stage.start(others[1])
        let places = try others.map { try $0.places }
        for isAwayForLong in [true, false] {
            stage.kill(other)
            if isAwayForLong { try await stage.checkAll() }
            let newPlace = try await stage.launch([command, directory], as: other)
            guard newPlace == place else {
                throw Problem("the killed program is at \(newPlace), not at \(place)")
            }
            try await stage.checkAll()
            try expect(others, at: places)
        }
    }

    /// The one that has checked its handles in this run of bluetoothd, and was away meanwhile, moves.
    private static func returnLate(_ stage: ProgramsStage) async throws {
        // bluetoothd has used no handles yet.
        await stage.reboot()
        let checking = NumberedProgram(1, services: 1, size: lateSize)
        try await checking.preserveAsEarlierVersion()
        let places = try await stage.launch([lateCommand], as: other)
        guard places.first == firstPlace else { throw Problem("the large service is at \(places)") }
        await Rig.order(["stop-bluetoothd"])
        let process = try await stage.awaitAbsence(of: other)
        await Rig.order(["start-bluetoothd"])
        try await stage.start(checking, checks: false)
        try expect(checking, at: firstPlace)
        await stage.stop([checking])
        kill(process, SIGCONT)
        guard try await stage.awaitHandles(of: other) == places else {
            throw Problem("the large service has moved")
        }
        try await stage.start(checking)
        guard try await checking.hasMoved() else { throw Problem("the other has not moved") }
    }

    private static func expect(_ program: NumberedProgram, at place: AttributeHandle) throws {
        guard try program.places.first == place else {
            throw Problem("program \(program.number) is at \(try program.places), not at \(place)")
        }
    }

    private static func expect(_ programs: [NumberedProgram], at places: [[AttributeHandle]]) throws {
        for (program, places) in zip(programs, places) where try program.places != places {
            throw Problem("program \(program.number) is at \(try program.places), not at \(places)")
        }
    }
}
