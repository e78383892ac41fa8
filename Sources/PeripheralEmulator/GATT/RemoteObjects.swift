internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// The objects of a program that represent attributes, and the calls of their methods.
struct RemoteObjects: Sendable {
    /// The time that bluetoothd waits for an answer (`ATTRIBUTE_TIMEOUT` in its gatt-db.c).
    private static let answerLimit: Duration = .seconds(5)

    let owner: BusName
    let objects: [AttributeHandle: ApplicationDescription.Object]
    let adapter: ObjectPath
    let connection: BusConnection
    let version: BlueZVersion
    let clock: any Clock<Duration>

    /// Returns the options of a request, in the order of bluetoothd.
    func options(of central: Central, offset: Int = 0, preparing: Bool = false) -> BusValue {
        var options: [(String, BusValue)] = [("device", .objectPath(adapter.device(central.linkAddress)))]
        if offset != 0 { options.append(("offset", .uint16(UInt16(clamping: offset)))) }
        options.append(("link", .string("LE")))
        if preparing { options.append(("prepare-authorize", .bool(true))) }
        options.append(("mtu", .uint16(UInt16(clamping: central.mtu))))
        return .properties(options)
    }

    /// Requests a socket at once, with the time limit of bluetoothd's gdbus (`METHOD_CALL_TIMEOUT`).
    ///
    /// Call this method on the event loop. It does not use the clock, so the answer is handled before any
    /// other message.
    func acquireNotify(
        _ attribute: AttributeHandle,
        for central: Central,
        completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void
    ) {
        guard let object = objects[attribute] else { return }
        let arguments = [options(of: central)]
        connection.assumeIsolated { [owner] connection in
            // The arguments are well-formed.
            try? connection.call(
                owner,
                object.path,
                object.interface,
                "AcquireNotify",
                arguments,
                timeout: .seconds(300),
                completion: completion
            )
        }
    }

    /// Calls a method on behalf of a central, which receives the outcome.
    func request(
        _ method: MemberName,
        of attribute: AttributeHandle,
        _ arguments: [BusValue],
        notPermitted: ATTError
    ) async -> Result<[BusValue], ATTError> {
        guard let object = objects[attribute] else { return .failure(.unlikelyError) }
        do throws(BusError) {
            return .success(
                try await connection.call(
                    owner,
                    object.path,
                    object.interface,
                    method,
                    arguments,
                    within: Self.answerLimit,
                    on: clock
                )
            )
        } catch {
            guard case .remote(let name, let message) = error else { return .failure(.unlikelyError) }
            return .failure(
                ATTError(bluezError: name, message: message, version: version, notPermitted: notPermitted)
            )
        }
    }

    /// Calls a method at once on the event loop, without waiting for its return.
    func send(_ attribute: AttributeHandle, _ method: MemberName) {
        guard let object = objects[attribute] else { return }
        connection.assumeIsolated { [owner] connection in
            // An application that has ended needs no message.
            try? connection.callWithoutReply(owner, object.path, object.interface, method)
        }
    }

    /// Calls a method without waiting for its return.
    func notify(_ attribute: AttributeHandle, _ method: MemberName, _ arguments: [BusValue]) async {
        guard let object = objects[attribute] else { return }
        // The central already has its response.
        try? await connection.callWithoutReply(owner, object.path, object.interface, method, arguments)
    }
}

extension ObjectPath {
    /// Returns the path of a central's object below the path of the adapter.
    func device(_ address: DeviceAddress) -> ObjectPath {
        let digits = address.description.map { $0 == ":" ? "_" : $0 }
        return ObjectPath(unchecked: "\(text)/dev_\(String(digits))")
    }
}
