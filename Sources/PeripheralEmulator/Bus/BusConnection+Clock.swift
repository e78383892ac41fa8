internal import PeripheralDBus

extension BusConnection {
    /// Calls a method, and waits for its answer for as long as the clock says.
    ///
    /// `arrived` is called on the loop when the answer comes, before what comes after it is dealt with.
    ///
    /// - Throws: As ``call(_:_:_:_:_:timeout:)`` does.
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
