internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// Serves the attributes of a registered application by calls to the program that registered it.
struct RemoteApplication: VirtualAttributeProvider {
    /// How long bluetoothd waits for an answer (`ATTRIBUTE_TIMEOUT` in its gatt-db.c).
    private static let answerLimit: Duration = .seconds(5)

    let owner: BusName
    let objects: [AttributeHandle: ApplicationDescription.Object]
    let adapter: ObjectPath
    let connection: BusConnection
    let version: BlueZVersion
    let clock: any Clock<Duration>
    let subscriptions: SubscriptionCounts

    func read(_ request: ReadRequest) async -> Result<[UInt8], ATTError> {
        let arguments = options(of: request.central, offset: request.offset)
        return await call("ReadValue", of: request.attribute, [arguments], notPermitted: .readNotPermitted)
            .flatMap { answer in
                guard let value = answer.first?.rawBytes else { return .failure(.requestNotSupported) }
                return .success(value)
            }
    }

    func write(_ request: WriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        let arguments = [.bytes(request.value), options(of: request.central, offset: request.offset)]
        guard withResponse else {
            await notify(request.attribute, "WriteValue", arguments)
            return .success(())
        }
        return await call(
            "WriteValue",
            of: request.attribute,
            arguments,
            notPermitted: .writeNotPermitted
        ).flatMap { answer in
            // Of a single argument nobody takes notice.
            answer.count <= 1 ? .success(()) : .failure(.requestNotSupported)
        }
    }

    func subscriptionChanged(_ change: SubscriptionChange) {
        guard change.cause == .written || change.cause == .ended,
            let method = subscriptions.method(for: change)
        else { return }
        send(change.characteristic, method)
    }

    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central) {
        send(characteristic, "Confirm")
    }
}

// MARK: - Calls

extension RemoteApplication {
    /// The options of a request, in the order of bluetoothd.
    private func options(of central: Central, offset: Int) -> BusValue {
        var options: [(String, BusValue)] = [("device", .objectPath(adapter.device(central.address)))]
        if offset != 0 { options.append(("offset", .uint16(UInt16(clamping: offset)))) }
        options.append(("link", .string("LE")))
        options.append(("mtu", .uint16(UInt16(clamping: central.mtu))))
        return .properties(options)
    }

    private func call(
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

    /// Calls without asking for an answer, after all that is on its way to the loop.
    private func send(_ attribute: AttributeHandle, _ method: MemberName) {
        guard let object = objects[attribute] else { return }
        connection.loop.execute { [owner, connection] in
            connection.assumeIsolated { connection in
                // An application that is gone needs not be told.
                try? connection.callWithoutReply(owner, object.path, object.interface, method)
            }
        }
    }

    private func notify(_ attribute: AttributeHandle, _ method: MemberName, _ arguments: [BusValue]) async {
        guard let object = objects[attribute] else { return }
        // The central has its response already.
        try? await connection.callWithoutReply(owner, object.path, object.interface, method, arguments)
    }
}

extension ObjectPath {
    /// The path of a central's object below that of the adapter.
    func device(_ address: DeviceAddress) -> ObjectPath {
        let digits = address.description.map { $0 == ":" ? "_" : $0 }
        return ObjectPath(unchecked: "\(text)/dev_\(String(digits))")
    }
}

extension BusValue {
    /// The value of an array as bluetoothd takes it: as many bytes from its beginning as it has elements.
    var rawBytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): return bytes
        case .array(_, let elements):
            let bytes = elements.compactMap { $0.integer(UInt64.self) }.flatMap { number in
                (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
            return Array(bytes.prefix(elements.count))
        default: return nil
        }
    }
}
