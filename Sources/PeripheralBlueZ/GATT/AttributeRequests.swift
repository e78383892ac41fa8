internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The D-Bus methods through which bluetoothd forwards the requests of centrals for an attribute.
///
/// This is a class, so that the handlers of all attributes share it instead of copying it.
final class AttributeRequests: Sendable {
    private let host: any PeripheralHost
    private let centrals: Centrals
    private let refusals: RequestRefusals

    init(host: any PeripheralHost, centrals: Centrals, refusals: RequestRefusals) {
        (self.host, self.centrals, self.refusals) = (host, centrals, refusals)
    }

    /// Returns the method `ReadValue` of an attribute.
    ///
    /// - Parameters:
    ///   - handle: The attribute.
    ///   - level: The security level that bluetoothd requires of the connection before it forwards a request.
    /// - Returns: The method.
    func readMethod(of handle: AttributeHandle, at level: SecurityLevel) -> ExportedMethod {
        ExportedMethod("ReadValue", "a{sv}", "ay") { [self] call, reply in
            var arguments = call.arguments
            let options: RequestOptions
            do {
                options = try RequestOptions(&arguments)
            } catch {
                return reply.fail(MethodError(.invalidArguments, "\(error)"))
            }
            let request = BackendReadRequest(
                attribute: handle,
                offset: options.offset,
                central: central(of: options, asking: .read, handle, servedAt: level)
            )
            switch host.read(request) {
            case .immediate(.success(let value)):
                reply.send { $0.append(bytes: value) }
            case .immediate(.failure(let error)):
                reply.fail(refusals.answer(to: .read, of: handle, with: error))
            case .deferred(let start):
                let reply = reply.deferred()
                start { [refusals] outcome in
                    switch outcome {
                    case .success(let value): reply.send(bytes: value)
                    case .failure(let error): reply.fail(refusals.answer(to: .read, of: handle, with: error))
                    }
                }
            }
        }
    }

    /// Returns the method `WriteValue` of an attribute.
    ///
    /// - Parameters:
    ///   - handle: The attribute.
    ///   - level: The security level that bluetoothd requires of the connection before it forwards a request.
    /// - Returns: The method.
    func writeMethod(of handle: AttributeHandle, at level: SecurityLevel) -> ExportedMethod {
        ExportedMethod("WriteValue", "aya{sv}", "") { [self] call, reply in
            var arguments = call.arguments
            let value: [UInt8]
            let options: RequestOptions
            do {
                value = try arguments.readBytes()
                options = try RequestOptions(&arguments)
            } catch {
                return reply.fail(MethodError(.invalidArguments, "\(error)"))
            }
            let request = BackendWriteRequest(
                attribute: handle,
                value: value,
                offset: options.offset,
                expectsResponse: reply.isExpected,
                isOnlyAuthorization: options.asksForAuthorization,
                central: central(
                    of: options,
                    asking: reply.isExpected ? .write : nil,
                    handle,
                    servedAt: level
                )
            )
            switch host.write(request) {
            case .immediate(.success):
                reply.send()
            case .immediate(.failure(let error)):
                reply.fail(refusals.answer(to: .write, of: handle, with: error))
            case .deferred(let start):
                let reply = reply.deferred()
                start { [refusals] outcome in
                    switch outcome {
                    case .success: reply.send()
                    case .failure(let error): reply.fail(refusals.answer(to: .write, of: handle, with: error))
                    }
                }
            }
        }
    }

    private func central(
        of options: RequestOptions,
        asking kind: CompletionPace.Request.Kind?,
        _ handle: AttributeHandle,
        servedAt level: SecurityLevel
    ) -> Central {
        centrals.assumeIsolated { centrals in
            let central = centrals.central(options.address, mtu: options.mtu)
            centrals.served(central, at: level)
            if let kind {
                let request = CompletionPace.Request(
                    kind: kind,
                    attribute: handle,
                    isFirst: options.offset == 0
                )
                centrals.asked(request, by: central.id)
            }
            return central
        }
    }

    /// Returns the methods that report subscribers.
    ///
    /// - `AcquireNotify` is called for each central that subscribes, and names the central. If the call is
    ///   refused, bluetoothd counts one more subscription and calls `StartNotify`, unless the error is
    ///   `Failed`.
    /// - `StopNotify` is called when the last central without a socket has unsubscribed or disconnected.
    /// - `Confirm` is called for each confirmation of a value that was sent through the bus. It is also
    ///   called for an indication whose central has disconnected.
    func subscriptionMethods(of handle: AttributeHandle) -> [ExportedMethod] {
        [
            ExportedMethod("AcquireNotify", "a{sv}", "hq") { [centrals] call, reply in
                var arguments = call.arguments
                let options: RequestOptions
                do {
                    options = try RequestOptions(&arguments)
                } catch {
                    return reply.fail(MethodError(.invalidArguments, "\(error)"))
                }
                let (central, socket, isCounted) = centrals.assumeIsolated { centrals in
                    let central = centrals.central(options.address, mtu: options.mtu)
                    let isCounted = centrals.isStillCounted(central, for: handle)
                    return (central.id, centrals.subscribed(central, to: handle), isCounted)
                }
                if isCounted {
                    return reply.fail(
                        MethodError("org.bluez.Error.Failed", "this subscription is counted already")
                    )
                }
                if let socket {
                    reply.send { reply in
                        reply.append(fileDescriptor: socket.descriptor)
                        reply.append(UInt16(options.mtu))
                    }
                } else {
                    reply.fail(
                        MethodError("org.bluez.Error.NotSupported", "values come by PropertiesChanged")
                    )
                }
                centrals.assumeIsolated { centrals in
                    centrals.answered(handle, of: central, isFollowedByStart: socket == nil)
                }
            },
            ExportedMethod("StartNotify", "", "") { [centrals] _, reply in
                centrals.assumeIsolated { $0.started(handle) }
                reply.send()
            },
            ExportedMethod("StopNotify", "", "") { [centrals] _, reply in
                centrals.assumeIsolated { $0.stopped(handle) }
                reply.send()
            },
            ExportedMethod("Confirm", "", "") { [centrals] _, reply in
                centrals.assumeIsolated { $0.confirmed(handle) }
                reply.send()
            },
        ]
    }
}
