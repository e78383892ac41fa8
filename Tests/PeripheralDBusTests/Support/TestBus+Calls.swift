import BusTestSupport
import PeripheralDBus
import Testing

extension TestBus {
    func call(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = []
    ) async throws(BusError) -> [BusValue] {
        try await client.call(serverName, path, interface, member, body)
    }

    func get(_ path: ObjectPath, _ interface: String, _ property: String) async throws(BusError) -> BusValue?
    {
        try await call(path, .properties, "Get", [.string(interface), .string(property)]).first
    }

    /// The error that a call is answered with, nil when it succeeds.
    func error(
        of path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = []
    ) async -> MethodError? {
        do throws(BusError) {
            _ = try await call(path, interface, member, body)
            return nil
        } catch {
            guard case .remote(let name, let message) = error, let name = try? ErrorName(name) else {
                Issue.record("expected an answer, got \(error)")
                return nil
            }
            return MethodError(name, message)
        }
    }
}
