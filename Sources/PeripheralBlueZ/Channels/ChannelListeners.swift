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
    private let turns: DaemonTurns
    private let loop: EventLoop
    private var open: [any ChannelListener] = []
    /// The requests that wait for bluetoothd, by their numbers.
    private var requests: [Int: Request] = [:]
    private var lastRequest = 0

    private struct Request {
        let channel: any BackendChannel
        let address: DeviceAddress
        let adapter: ObjectPath
        let listener: Int
    }

    /// The number of requests that can wait for bluetoothd.
    ///
    /// If bluetoothd hangs, this bounds the number of sockets.
    private static let capacity = 32

    init(
        kernelLinks: any KernelLinks,
        connections: Connections,
        devices: DeviceRegister,
        turns: DaemonTurns,
        loop: EventLoop
    ) {
        (self.kernelLinks, self.connections, self.devices) = (kernelLinks, connections, devices)
        (self.turns, self.loop) = (turns, loop)
    }

    /// Opens the listeners.
    ///
    /// - Parameters:
    ///   - listeners: The listeners.
    ///   - former: The numbers that the listeners had before, by their indices.
    ///   - adapter: The path of the adapter.
    ///   - address: The address of the adapter.
    ///   - host: Receives each channel, with its central and the index of its listener.
    /// - Returns: The open listeners.
    /// - Throws: The reason why a listener cannot be opened. Then no listener is open.
    func begin(
        _ listeners: [BackendListener],
        preferring former: [UInt16],
        on adapter: ObjectPath,
        at address: DeviceAddress,
        _ host: @escaping (any BackendChannel, Central.ID, Int) -> Void
    ) throws(RegistrationStateMachine.Failure) -> [(psm: UInt16, mtu: Int)] {
        end()
        let requested = Set(listeners.compactMap(\.psm.number))
        let kept = listeners.indices.map { index in
            former.indices.contains(index) && !requested.contains(former[index]) ? former[index] : nil
        }
        var opened: [Int: any ChannelListener] = [:]
        func listen(_ index: Int, _ psm: UInt16?) throws(ChannelListenerFailure) {
            let listener = listeners[index]
            let request = ListenerRequest(listener: listener, psm: psm, adapter: adapter, address: address)
            opened[index] = try kernelLinks.listen(request, on: loop) { [weak self] channel, address in
                self?.requested(
                    Request(channel: channel, address: address, adapter: adapter, listener: index),
                    host
                )
            }
        }
        do throws(RegistrationStateMachine.Failure) {
            // The known numbers come first, so that no other listener receives them.
            for index in listeners.indices where listeners[index].psm.number != nil {
                let psm = listeners[index].psm
                do throws(ChannelListenerFailure) {
                    try listen(index, psm.number)
                } catch {
                    guard error == .taken, psm.canMove else {
                        throw .listening(error, at: index, psm: psm.number)
                    }
                }
            }
            for index in listeners.indices where listeners[index].psm.number == nil && kept[index] != nil {
                try? listen(index, kept[index])
            }
            for index in listeners.indices where opened[index] == nil {
                do throws(ChannelListenerFailure) {
                    try listen(index, nil)
                } catch {
                    throw .listening(error, at: index, psm: nil)
                }
            }
        } catch {
            for listener in opened.values { listener.close() }
            throw error
        }
        open = listeners.indices.compactMap { opened[$0] }
        return open.map { ($0.psm, $0.mtu) }
    }

    /// Passes a channel to the host after the reports that bluetoothd has sent before.
    ///
    /// The channel comes from the kernel, so it can arrive before bluetoothd's report that the central has
    /// connected, or that its connection before has ended.
    private func requested(
        _ request: Request,
        _ host: @escaping (any BackendChannel, Central.ID, Int) -> Void
    ) {
        guard requests.count < Self.capacity else { return request.channel.abort() }
        lastRequest += 1
        requests[lastRequest] = request
        turns.onAnswer { [weak self, number = lastRequest] in self?.open(number, host) }
    }

    private func open(_ number: Int, _ host: (any BackendChannel, Central.ID, Int) -> Void) {
        guard let request = requests.removeValue(forKey: number) else { return }
        let id = devices.id(ofLink: request.address)
        if let central = devices.central(id) ?? connectedCentral(id, request) {
            host(request.channel, central.id, request.listener)
        } else {
            request.channel.abort()
        }
    }

    /// The central of a channel that bluetoothd does not report as connected; `nil` if it has left.
    private func connectedCentral(_ id: Central.ID, _ request: Request) -> Central? {
        let links = kernelLinks.links(of: request.adapter)
        guard links?.contains(where: { devices.id(ofLink: $0.address) == id }) != false else { return nil }
        return connections.central(request.address, mtu: 23)
    }

    /// Closes the listeners.
    func end() {
        for listener in open { listener.close() }
        for request in requests.values { request.channel.abort() }
        (open, requests) = ([], [:])
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
