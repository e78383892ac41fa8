/// The background work of services in one run of their peripheral.
struct ServiceWork {
    private let runtime: PeripheralRuntime
    private let services: [(declaration: any GATTServiceDeclaration, session: PeripheralSession)]

    /// Begins to retain the events for each service.
    init(of declarations: [any GATTServiceDeclaration], in runtime: PeripheralRuntime) {
        self.runtime = runtime
        services = declarations.map { ($0, PeripheralSession(ofServiceIn: runtime)) }
    }

    /// Runs the work of each service until the body has ended.
    ///
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or of a service that has failed before the body ended.
    func run<Output: Sendable>(
        beside body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await withThrowingTaskGroup(of: Part<Output>.self) { group in
            for (declaration, session) in services {
                group.addTask {
                    defer { session.endServiceEvents() }
                    do {
                        try await declaration.run(in: session)
                    } catch let error where error.isConsequenceOfEnd {
                        // The part of the run that has ended the session throws the error.
                    }
                    return .service
                }
            }
            group.addTask { [runtime] in
                .body(try await body(PeripheralSession(runtime: runtime)))
            }
            defer { group.cancelAll() }
            while let part = try await group.next() {
                if case .body(let output) = part { return output }
            }
            throw CancellationError()
        }
    }
}

/// The part of the work that has ended.
private enum Part<Output: Sendable>: Sendable {
    case service
    case body(Output)
}
