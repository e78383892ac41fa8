import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// One of several programs on the adapter, whose services have the same types and sizes as those of the
/// others.
///
/// Each value is the number of the program, then the number of the service. The program has its own
/// connection to the bus, because bluetoothd distinguishes programs by their connections.
final class NumberedProgram: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var session: PeripheralSession?
        var places: [AttributeHandle] = []
        var formerPlaces: [AttributeHandle]?
        var tellings = 0
    }

    let number: UInt8
    private let services: [[Characteristic<[UInt8]>]]
    private let peripheral: Peripheral
    private let store: any RestorationStore
    private let state = Mutex(State())

    /// - Parameters:
    ///   - number: The number that distinguishes its values from those of other programs.
    ///   - services: How many services it has.
    ///   - size: How many values each of them has.
    ///   - handle: Where the first service is pinned; nothing is preserved of a program that pins one.
    ///   - isPreserved: Whether it has a restoration identifier.
    ///   - store: Where the others preserve their state.
    init(
        _ number: UInt8,
        services: Int = 2,
        size: Int = 1,
        pinned handle: AttributeHandle? = nil,
        isPreserved: Bool = true,
        store: any RestorationStore = InMemoryRestorationStore()
    ) {
        self.number = number
        self.store = store
        let declared = (0..<services).map { service in
            (0..<size).map { _ in
                Characteristic<[UInt8]>(0x2A56, .read) { Read { [number, UInt8(service)] } }
            }
        }
        self.services = declared
        peripheral = Peripheral(
            "Program \(number)",
            restorationIdentifier: isPreserved && handle == nil ? "com.example.program\(number)" : nil
        ) {
            declared.indices.map { service in
                GATTService(.automationIO, handle: service == 0 ? handle : nil) { declared[service] }
            }
        }
    }

    /// What a central has to find, whatever the other programs do.
    var expected: ServedValues {
        get throws {
            let session = state.withLock { $0.session }
            return ServedValues(
                program: number,
                handles: try services.map { service in
                    try service.map { try session?.handle(of: $0) ?? 0 }
                }
            )
        }
    }

    /// Where the first value of each service stands.
    var places: [AttributeHandle] { get throws { try expected.handles.compactMap(\.first) } }

    /// Prints a line with the handles of its values, a word for each service.
    func printHandles() throws {
        let words = try expected.handles.map { service in
            service.map { String($0.rawValue, radix: 16) }.joined(separator: ",")
        }
        print("at", words.joined(separator: " "))
        fflush(nil)
    }

    /// Has it run alone, where a version from before programs claimed handles has preserved its services: at
    /// 0x0100.
    func preserveAsEarlierVersion() async throws {
        try await peripheral.run(on: InMemoryBackend(), restoringFrom: store) { _ in }
    }

    /// Starts it; returns when it is on the air.
    func start(recovery: Recovery = .always) async throws {
        let (news, teller) = AsyncThrowingStream.makeStream(of: Void.self)
        let task = Task {
            do {
                try await self.run(on: .bluez(recovery: recovery)) { teller.yield() }
                teller.finish()
            } catch {
                teller.finish(throwing: error)
            }
        }
        state.withLock { $0.task = task }
        for try await _ in news { return }
        throw Problem("program \(number) has ended by itself")
    }

    /// Ends it; returns when nothing is left of it.
    func stop() async {
        let task = state.withLock { $0.task.take() }
        task?.cancel()
        await task?.value
    }

    private func run(on backend: BlueZBackend, _ hasStarted: @escaping @Sendable () -> Void) async throws {
        let serve: @Sendable (PeripheralSession) async throws -> Void = { [self] session in
            let former = services.compactMap { service in
                service.first.flatMap { session.restored?.handle(of: $0) }
            }
            state.withLock { state in
                (state.session, state.tellings) = (session, 0)
                state.formerPlaces = former.isEmpty ? nil : former
            }
            let events = session.events
            if peripheral.restorationIdentifier != nil { try await session.preserve() }
            hasStarted()
            for await event in events where event == .handlesChanged { state.withLock { $0.tellings += 1 } }
        }
        if peripheral.restorationIdentifier == nil {
            try await peripheral.run(on: backend, serve)
        } else {
            try await peripheral.run(on: backend, restoringFrom: store, serve)
        }
    }

    /// Checks that a move was reported once, and that nothing was reported without a move.
    ///
    /// - Returns: Whether its services have moved since it last ran.
    @discardableResult
    func hasMoved() async throws -> Bool {
        let places = try places
        let former = state.withLock { $0.formerPlaces }
        guard let former, former != places else {
            guard state.withLock({ $0.tellings }) == 0 else {
                throw Problem("program \(number) was told of a move, and stands where it has been: \(places)")
            }
            return false
        }
        // The report arrives as soon as the task of the program runs.
        for _ in 0..<100 where state.withLock({ $0.tellings }) == 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        guard state.withLock({ $0.tellings }) == 1 else {
            throw Problem("program \(number) was not told once that it moved from \(former) to \(places)")
        }
        return true
    }

    /// Waits until its peripheral is on the air, or off it.
    func reaches(isOnTheAir: Bool) async {
        for await state in peripheral.states where state.isOnTheAir == isOnTheAir { return }
    }
}

/// The values of a program, by service.
struct ServedValues: Sendable {
    var program: UInt8
    var handles: [[AttributeHandle]]

    /// Looks whether a central finds all of it, and gets the program's own answers.
    ///
    /// - Returns: The program's services.
    func check(
        in services: [DiscoveredService],
        _ central: BumbleCentral
    ) async throws -> [ClosedRange<AttributeHandle>] {
        var found: [ClosedRange<AttributeHandle>] = []
        for (number, values) in handles.enumerated() {
            let name = "service \(number) of program \(program)"
            guard let service = services.first(where: { $0.characteristics.map(\.valueHandle) == values })
            else { throw Problem("\(name) is not found at \(values)") }
            found.append(service.handles)
            for handle in values {
                let value = try await central.read(handle, offset: 0)
                guard value == [program, UInt8(number)] else {
                    throw Problem("\(name) answers \(value) at \(handle)")
                }
            }
        }
        return found
    }
}
