internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// Serves the attributes of a registered application through calls to its program and through its sockets.
struct RemoteApplication: VirtualAttributeProvider {
    let remote: RemoteObjects
    let channels: ApplicationChannels

    func read(_ request: BackendReadRequest) async -> Result<[UInt8], ATTError> {
        let arguments = remote.options(of: request.central, offset: request.offset)
        return await remote.request(
            "ReadValue",
            of: request.attribute,
            [arguments],
            notPermitted: .readNotPermitted
        ).flatMap { answer in
            guard let value = answer.first?.rawBytes else { return .failure(.requestNotSupported) }
            return .success(value)
        }
    }

    func write(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        switch await channels.write(request.value, to: request.attribute, by: request.central) {
        case .done(let result): result
        case .call:
            await call(
                request,
                [.bytes(request.value), remote.options(of: request.central, offset: request.offset)],
                withResponse: withResponse
            )
        }
    }

    func authorizeWrite(_ request: BackendWriteRequest, withResponse: Bool) async -> Result<Void, ATTError> {
        let options = remote.options(of: request.central, offset: request.offset, preparing: true)
        return await call(request, [.bytes([]), options], withResponse: withResponse)
    }

    private func call(
        _ request: BackendWriteRequest,
        _ arguments: [BusValue],
        withResponse: Bool
    ) async -> Result<Void, ATTError> {
        guard withResponse else {
            await remote.notify(request.attribute, "WriteValue", arguments)
            return .success(())
        }
        return await remote.request(
            "WriteValue",
            of: request.attribute,
            arguments,
            notPermitted: .writeNotPermitted
        ).flatMap { answer in
            // bluetoothd ignores a single argument.
            answer.count <= 1 ? .success(()) : .failure(.requestNotSupported)
        }
    }

    func subscriptionChanged(_ change: SubscriptionChange) {
        remote.connection.loop.execute { [channels] in
            channels.assumeIsolated { $0.configurationChanged(change) }
        }
    }

    func subscriptionsEnded() {
        remote.connection.loop.execute { [channels] in
            channels.assumeIsolated { $0.reportStopped() }
        }
    }

    func indicationConfirmed(_ characteristic: AttributeHandle, by central: Central) {
        channels.afterIndication(of: characteristic) { $0.remote.send(characteristic, "Confirm") }
    }
}

extension BusValue {
    /// The bytes of an array as bluetoothd reads them.
    ///
    /// bluetoothd reads as many bytes from the start of the array as the array has elements.
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
