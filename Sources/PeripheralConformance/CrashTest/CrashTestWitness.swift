internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
private import Synchronization

/// The second central of a ``CrashTest``, which is bonded and mostly disconnected.
///
/// The first central writes durable values. When the program has confirmed a write, the second central must
/// receive the new value. The second central must also receive each durable value that the program has
/// restored. For each of these values, the second central also receives one update of the audit
/// characteristic. The second central receives no other updates.
final class CrashTestWitness: Sendable {
    private struct State {
        var central: (any TestCentral)?
        var handles: (durable: AttributeHandle, audit: AttributeHandle)?
        var isConnected = false
        var isPaired = false
        /// The numbers that were acknowledged or restored.
        var promised: Set<UInt32> = []
        var values = CrashTestEntries()
        var audit = CrashTestEntries()
    }

    private let twin: CrashTestPeripheral
    private let state = Mutex(State())

    init(of twin: CrashTestPeripheral) {
        self.twin = twin
    }

    /// The number of updates that have arrived.
    var count: Int { state.withLock { $0.values.count + $0.audit.count } }

    /// The largest number of repeated updates after one kill.
    var longestRepeat: UInt32 { state.withLock { max($0.values.longestRepeat, $0.audit.longestRepeat) } }

    // MARK: Expected values

    /// Records that a durable value was acknowledged or restored.
    func promise(_ number: UInt32) {
        state.withLock { state in
            // 0 is the initial value, which no central has written.
            guard number > 0, state.promised.insert(number).inserted else { return }
            state.values.kept(number)
            state.audit.kept(number)
        }
    }

    /// Records that the program was killed.
    func killed() {
        state.withLock { state in
            state.values.killed()
            state.audit.killed()
        }
    }

    /// Starts over after a failed round.
    func giveUp() async {
        try? await state.withLock(\.central)?.disconnect()
        state.withLock { state in
            state.isConnected = false
            state.values.forget()
            state.audit.forget()
        }
    }

    // MARK: Connecting and receiving

    /// Connects to a restarted program, unless the second central is connected.
    ///
    /// The second central uses the handles that it already knows.
    ///
    /// - Parameters:
    ///   - running: The program.
    ///   - first: The first central, which creates the second central.
    /// - Throws: The errors of the central, or ``RunningProgram/EndError``.
    func meet(_ running: RunningProgram, beside first: any TestCentral) async throws {
        let (known, isConnected, isPaired) = state.withLock { ($0.central, $0.isConnected, $0.isPaired) }
        let central: any TestCentral = if let known { known } else { try await first.makeAnother() }
        state.withLock { $0.central = central }
        if !isConnected { try await central.connect() }
        state.withLock { $0.isConnected = true }
        if !isPaired { try await central.pair(.justWorks) }
        state.withLock { $0.isPaired = true }
        let handles: (durable: AttributeHandle, audit: AttributeHandle)
        if let known = state.withLock(\.handles) {
            handles = known
        } else {
            handles = (
                try await central.locate(twin.durable).valueHandle,
                try await central.locate(twin.audit).valueHandle
            )
        }
        state.withLock { $0.handles = handles }
        try await central.subscribe(handles.durable, to: .notification)
        try await central.subscribe(handles.audit, to: .notification)
        try await running.wait { $0.witnessings >= 2 }
    }

    /// Receives all values up to the given value.
    func takeAll(upTo number: UInt32) async throws {
        let (central, handles) = state.withLock { ($0.central, $0.handles) }
        guard let central, let handles else { return }
        try await takeAll(upTo: number, of: handles.durable, by: central) { try $0.values.received($1) }
        try await takeAll(upTo: number, of: handles.audit, by: central) { try $0.audit.received($1) }
    }

    private func takeAll(
        upTo number: UInt32,
        of handle: AttributeHandle,
        by central: any TestCentral,
        _ note: (inout State, UInt32) throws -> Void
    ) async throws {
        var last: UInt32 = 0
        while last != number {
            let update = try UInt32(gattBytes: await central.nextUpdate(of: handle).value)
            last = update
            try state.withLock { state in
                guard state.promised.contains(update) else {
                    throw ConformanceFailure(
                        description: "\(update) was sent, but was neither acknowledged nor restored."
                    )
                }
                try note(&state, update)
            }
        }
    }

    /// Disconnects, and returns when the program has noticed the disconnection.
    func leave(_ running: RunningProgram) async throws {
        guard let central = state.withLock(\.central) else { return }
        let before = running.said.departures
        try await central.disconnect()
        state.withLock { $0.isConnected = false }
        try await running.wait { $0.departures > before }
    }
}
