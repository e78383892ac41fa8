internal import PeripheralTesting

/// Connects one central for each MTU, and disconnects all centrals at the end.
///
/// The first central is the given central.
func withCentrals(
    _ first: any TestCentral,
    mtus: [Int],
    _ body: (_ centrals: [any TestCentral]) async throws -> Void
) async throws {
    var centrals: [any TestCentral] = []
    var failure: (any Error)?
    do {
        for mtu in mtus {
            let central = centrals.isEmpty ? first : try await first.makeAnother()
            centrals.append(central)
            try await central.connect(mtu: mtu)
        }
        try await body(centrals)
    } catch {
        failure = error
    }
    for central in centrals {
        do { try await central.disconnect() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
}

/// Runs the same operation with all centrals concurrently.
func all(
    _ centrals: [any TestCentral],
    _ operation: @escaping @Sendable (_ number: Int, _ central: any TestCentral) async throws -> Void
) async throws {
    try await withThrowingTaskGroup { group in
        for (number, central) in centrals.enumerated() {
            group.addTask { try await operation(number, central) }
        }
        try await group.waitForAll()
    }
}
