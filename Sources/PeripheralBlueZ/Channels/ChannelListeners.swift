internal import Glibc
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The listeners of a peripheral on an adapter.
///
/// The object belongs to the event loop.
final class ChannelListeners {
    private let kernelLinks: any KernelLinks
    private let connections: Connections
    private let devices: DeviceRegister
    private let loop: EventLoop
    private var open: [any ChannelListener] = []

    init(kernelLinks: any KernelLinks, connections: Connections, devices: DeviceRegister, loop: EventLoop) {
        (self.kernelLinks, self.connections, self.devices, self.loop) = (
            kernelLinks, connections, devices, loop
        )
    }

    /// Opens the listeners.
    ///
    /// - Parameters:
    ///   - listeners: The listeners.
    ///   - former: The numbers that the listeners had before, by their indices.
    ///   - adapter: The path of the adapter.
    ///   - address: The address of the adapter.
    ///   - host: Receives each requested channel, with its central and the index of its listener.
    /// - Returns: The numbers of the listeners.
    /// - Throws: The reason why a listener cannot be opened. Then no listener is open.
    func begin(
        _ listeners: [BackendListener],
        preferring former: [UInt16],
        on adapter: ObjectPath,
        at address: DeviceAddress,
        _ host: @escaping (any BackendChannel, Central.ID, Int) -> Void
    ) throws(RegistrationStateMachine.Failure) -> [UInt16] {
        end()
        for (index, listener) in listeners.enumerated() {
            let wanted = listener.psm.number ?? (former.indices.contains(index) ? former[index] : nil)
            do throws(ChannelListenerFailure) {
                open.append(
                    try self.listener(listener, wanted, on: adapter, at: address) { [weak self] in
                        self?.requested($0, by: $1) { host($0, $1, index) }
                    }
                )
            } catch {
                end()
                throw .listening(error, at: index, psm: wanted)
            }
        }
        return open.map(\.psm)
    }

    /// Opens a listener with the wanted number, or with another one if the declaration permits it.
    private func listener(
        _ listener: BackendListener,
        _ wanted: UInt16?,
        on adapter: ObjectPath,
        at address: DeviceAddress,
        _ request: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) throws(ChannelListenerFailure) -> any ChannelListener {
        do throws(ChannelListenerFailure) {
            return try kernelLinks.listen(listener, psm: wanted, on: adapter, at: address, loop, request)
        } catch .taken where listener.psm.canMove && wanted != nil {
            return try kernelLinks.listen(listener, psm: nil, on: adapter, at: address, loop, request)
        }
    }

    private func requested(
        _ channel: any BackendChannel,
        by address: DeviceAddress,
        _ host: (any BackendChannel, Central.ID) -> Void
    ) {
        let id = devices.id(ofLink: address)
        // The request shows that the central is connected, possibly before bluetoothd reports it.
        let central = devices.central(id) ?? connections.central(address, mtu: 23)
        host(channel, central.id)
    }

    /// Closes the listeners.
    func end() {
        for listener in open { listener.close() }
        open = []
    }
}

extension RegistrationStateMachine.Failure {
    fileprivate static func listening(_ failure: ChannelListenerFailure, at index: Int, psm: UInt16?) -> Self
    {
        let name = "L2CAP listener \(index + 1)"
        let number = psm.map { "0x\(String($0, radix: 16, uppercase: true))" } ?? "any PSM"
        switch failure {
        case .taken:
            return Self(
                code: .rejected,
                message:
                    "\(name) cannot have the PSM \(number), because another program has it. Stop that program, "
                    + "or declare .preferred(\(number)), so that the listener can have another PSM."
            )
        case .forbidden:
            return Self([
                DeclarationIssue(
                    severity: .error,
                    element: name,
                    reason: "the PSM \(number) requires the capability CAP_NET_BIND_SERVICE",
                    remedy: "request a PSM from 0x80 to 0xFF, or grant the capability to the program"
                )
            ])
        case .noSockets:
            return Self(
                code: .permissionDenied,
                message:
                    "\(name) cannot be opened, because the program cannot open Bluetooth sockets. A container, or "
                    + "RestrictAddressFamilies= in a systemd unit, can prohibit them."
            )
        case .failed(let number):
            return Self(
                code: .rejected,
                message: "The kernel cannot open \(name): \(unsafe String(cString: strerror(number)))."
            )
        }
    }
}
