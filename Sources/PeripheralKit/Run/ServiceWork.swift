private import Synchronization

/// The background work of services in one run of their peripheral.
///
/// The work of a service begins with the body of the run, or when the service is added. It ends with the
/// body, or when the service is removed.
final class ServiceWork: Sendable {
    /// The work of one service.
    private struct Job: Sendable {
        let number: UInt64
        let declaration: any GATTServiceDeclaration
        let session: PeripheralSession
    }

    private struct State {
        var nextNumber: UInt64 = 0
        /// The jobs that have not ended, with their tasks as soon as they have begun.
        var jobs: [(job: Job, identity: DeclarationIdentity, task: Task<Void, any Error>?)] = []
        /// The numbers of the jobs whose services are removed.
        var removed: Set<UInt64> = []
    }

    /// The number of the job that the current task belongs to.
    @TaskLocal private static var current: UInt64?

    private let state = Mutex(State())
    private let (jobs, begin) = AsyncStream.makeStream(of: Job.self)

    /// Begins the work of a service, as soon as the body of the run has begun.
    ///
    /// The session retains the events from now on.
    func add(_ declaration: any GATTServiceDeclaration, in runtime: PeripheralRuntime) {
        let session = PeripheralSession(ofServiceIn: runtime)
        let job = state.withLock { state in
            let job = Job(number: state.nextNumber, declaration: declaration, session: session)
            state.nextNumber += 1
            state.jobs.append((job, declaration.service.identity, nil))
            return job
        }
        begin.yield(job)
    }

    /// Cancels the work of services, and waits until it has ended.
    ///
    /// A service that removes itself does not wait for its own work.
    func end(_ services: [GATTService]) async {
        let ending = state.withLock { state in
            let ending = state.jobs.filter { entry in services.contains { $0.identity == entry.identity } }
            state.removed.formUnion(ending.map(\.job.number))
            return ending
        }
        for (_, _, task) in ending { task?.cancel() }
        for (job, _, task) in ending where job.number != Self.current { _ = await task?.result }
    }

    /// Runs the work of each service until the body has ended.
    ///
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or of a service that has failed before the body ended.
    func run<Output: Sendable>(
        in runtime: PeripheralRuntime,
        beside body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await withThrowingTaskGroup(of: Part<Output>.self) { group in
            group.addTask {
                try await self.runServices()
                return .services
            }
            group.addTask {
                .body(try await body(PeripheralSession(runtime: runtime)))
            }
            defer { group.cancelAll() }
            while let part = try await group.next() {
                if case .body(let output) = part { return output }
            }
            throw CancellationError()
        }
    }

    /// Runs the work of all services until the task is cancelled, or a service fails.
    private func runServices() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for await job in jobs {
                group.addTask {
                    do {
                        try await self.perform(job)
                    } catch {
                        // The group waits for the next job, which would never come.
                        self.begin.finish()
                        throw error
                    }
                }
            }
        }
    }

    private func perform(_ job: Job) async throws {
        defer {
            job.session.endServiceEvents()
            state.withLock { state in
                state.jobs.removeAll { $0.job.number == job.number }
                state.removed.remove(job.number)
            }
        }
        let task: Task<Void, any Error>? = state.withLock { state in
            guard !state.removed.contains(job.number),
                let index = state.jobs.firstIndex(where: { $0.job.number == job.number })
            else { return nil }
            let task = Task {
                try await Self.$current.withValue(job.number) {
                    try await job.declaration.run(in: job.session)
                }
            }
            state.jobs[index].task = task
            return task
        }
        guard let task else { return }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let error where error.isConsequenceOfEnd {
            // The part of the run that has ended the session throws the error.
        } catch {
            // The work of a removed service can fail because it was cancelled.
            if !state.withLock({ $0.removed.contains(job.number) }) { throw error }
        }
    }
}

/// The part of the work that has ended.
private enum Part<Output: Sendable>: Sendable {
    case services
    case body(Output)
}
