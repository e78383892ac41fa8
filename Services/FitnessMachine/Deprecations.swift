public import PeripheralKit

extension FitnessMachineService {
    /// Sends data, as ``notify(_:in:)-(Data,_)``.
    ///
    /// - Parameters:
    ///   - data: What the machine measures.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    @available(*, deprecated, renamed: "notify(_:in:)")
    public func send(_ data: Data, in session: PeripheralSession) async throws {
        try await notify(data, in: session)
    }

    /// Tells a status, as ``notify(_:in:)-(FitnessMachineStatus,_)``.
    ///
    /// - Parameters:
    ///   - status: What has become of the machine.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    @available(*, deprecated, renamed: "notify(_:in:)")
    public func tell(_ status: FitnessMachineStatus, in session: PeripheralSession) async throws {
        try await notify(status, in: session)
    }
}
