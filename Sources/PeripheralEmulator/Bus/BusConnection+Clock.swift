internal import PeripheralDBus

extension BusConnection {
    /// Calls a method and waits for its return, with a time limit measured by the clock.
    ///
    /// The method calls `arrived` on the loop when the return arrives, before it handles any later message.
    ///
    /// - Throws: The errors of ``call(_:_:_:_:_:timeout:)``.
    func call(
        _ destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = [],
        within limit: Duration,
        on clock: any Clock<Duration>,
        arrived: @escaping @Sendable () -> Void = {}
    ) async throws(BusError) -> [BusValue] {
        // A timer of the loop ends with the call. A cancelled sleep keeps its memory until its deadline.
        if clock is ContinuousClock {
            return try await call(
                destination,
                path,
                interface,
                member,
                body,
                timeout: limit,
                arrived: arrived
            )
        }
        let result: Result<[BusValue], BusError> = await withTaskGroup(
            of: Result<[BusValue], BusError>.self
        ) { group in
            group.addTask {
                do throws(BusError) {
                    return .success(
                        try await self.call(
                            destination,
                            path,
                            interface,
                            member,
                            body,
                            timeout: .seconds(3600),
                            arrived: arrived
                        )
                    )
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                do {
                    try await clock.sleep(for: limit)
                    return .failure(.timedOut)
                } catch {
                    return .failure(.cancelled)
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.cancelled)
        }
        return try result.get()
    }
}
