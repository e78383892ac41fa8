internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The methods by which bluetoothd asks for what centrals want of an attribute.
struct AttributeRequests: Sendable {
    let host: any PeripheralHost
    let updates: UpdateTransmitter
    let logger: Logger

    func readMethod(of handle: AttributeHandle) -> ExportedMethod {
        ExportedMethod("ReadValue", "a{sv}", "ay") { call, reply in
            var arguments = call.arguments
            let options: RequestOptions
            do {
                options = try RequestOptions(&arguments)
            } catch {
                return reply.fail(MethodError(.invalidArguments, "\(error)"))
            }
            let request = ReadRequest(attribute: handle, offset: options.offset, central: options.central)
            switch host.read(request) {
            case .immediate(.success(let value)):
                reply.send { $0.append(bytes: value) }
            case .immediate(.failure(let error)):
                reply.fail(refusal(of: .read, handle, with: error))
            case .deferred(let start):
                let reply = reply.deferred()
                start { result in
                    switch result {
                    case .success(let value): reply.send(bytes: value)
                    case .failure(let error): reply.fail(refusal(of: .read, handle, with: error))
                    }
                }
            }
        }
    }

    func writeMethod(of handle: AttributeHandle) -> ExportedMethod {
        ExportedMethod("WriteValue", "aya{sv}", "") { call, reply in
            var arguments = call.arguments
            let value: [UInt8]
            let options: RequestOptions
            do {
                value = try arguments.readBytes()
                options = try RequestOptions(&arguments)
            } catch {
                return reply.fail(MethodError(.invalidArguments, "\(error)"))
            }
            let request = WriteRequest(
                attribute: handle,
                value: value,
                offset: options.offset,
                expectsResponse: reply.isExpected,
                isOnlyAuthorization: options.asksForAuthorization,
                central: options.central
            )
            switch host.write(request) {
            case .immediate(.success):
                reply.send()
            case .immediate(.failure(let error)):
                reply.fail(refusal(of: .write, handle, with: error))
            case .deferred(let start):
                let reply = reply.deferred()
                start { result in
                    switch result {
                    case .success: reply.send()
                    case .failure(let error): reply.fail(refusal(of: .write, handle, with: error))
                    }
                }
            }
        }
    }

    /// The methods that tell of subscribers.
    ///
    /// `StartNotify` comes for each central that subscribes, `StopNotify` when the last one has left; neither
    /// says which central, nor does `Confirm`, which also comes for an indication whose central is gone.
    func subscriptionMethods(of handle: AttributeHandle) -> [ExportedMethod] {
        [
            ExportedMethod("StartNotify", "", "") { _, reply in
                host.handle(.subscribed(BackendSubscription(characteristic: handle, central: nil)))
                reply.send()
            },
            ExportedMethod("StopNotify", "", "") { _, reply in
                host.handle(.unsubscribed(handle, by: nil))
                reply.send()
            },
            ExportedMethod("Confirm", "", "") { _, reply in
                updates.assumeIsolated { $0.confirmed(handle) }
                reply.send()
            },
        ]
    }

    private func refusal(
        of operation: RequestRefusal.Operation,
        _ handle: AttributeHandle,
        with error: ATTError
    ) -> MethodError {
        let refusal = RequestRefusal(error, operation: operation)
        if refusal.received != error {
            logger.warning(
                "BlueZ cannot carry this error; the central sees another.",
                metadata: [
                    "peripheral.attribute": "\(handle)",
                    "peripheral.error": "\(error)",
                    "peripheral.received": "\(refusal.received)",
                ]
            )
        }
        return MethodError(refusal.name, refusal.message)
    }
}
