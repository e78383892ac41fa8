internal import PeripheralDBus
internal import PeripheralKit

/// Follows the links of the connected centrals, and asks the controller about them.
///
/// The kernel reports the events of the controller before bluetoothd reports their effects. The object
/// belongs to the event loop.
final class Links {
    private let devices: DeviceRegister
    private let kernelLinks: any KernelLinks
    private let loop: EventLoop
    private var adapter: ObjectPath?
    private var control: (any LinkControl)?
    private var table = LinkTable()
    private var questions = LinkQuestions()
    /// Ends the questions that stay without an answer.
    ///
    /// A program that asks nothing has no timer, and stays asleep.
    private var timer: LoopSource?
    /// Called when the parameters of a central have changed.
    private var changed: ((Central.ID, ConnectionParameters?) -> Void)?

    init(of devices: DeviceRegister, kernelLinks: any KernelLinks, loop: EventLoop) {
        (self.devices, self.kernelLinks, self.loop) = (devices, kernelLinks, loop)
    }

    /// Calls the handler when the parameters of a connected central have changed.
    func onChange(_ handler: @escaping (Central.ID, ConnectionParameters?) -> Void) {
        changed = handler
    }

    /// Begins to follow the links of an adapter.
    func begin(on adapter: ObjectPath) {
        end()
        self.adapter = adapter
        learn()
    }

    func end() {
        control?.close()
        control = nil
        questions.end(.failure(.notConnected)) { _ in true }
        setTimer()
    }

    /// Records that a central has connected, and returns the parameters of its link, if they are known.
    func connected(_ central: Central.ID) -> ConnectionParameters? {
        control?.receive()
        table.connected(central)
        learn()
        return table.parameters(of: central)
    }

    /// Records the reason in bluetoothd's signal, which precedes the report of the disconnection.
    func ended(_ central: Central.ID, because cause: DisconnectionReason.Cause) {
        if devices.central(central) != nil { table.take(cause, of: central) }
    }

    /// Returns why a central has disconnected.
    func disconnected(_ central: Central.ID) -> DisconnectionReason {
        control?.receive()
        if let connection = table.connection(of: central) {
            questions.end(.failure(.notConnected)) { $0.command.connection == connection }
            setTimer()
        }
        return table.disconnected(central, isFollowed: control?.isOpen == true)
    }

    /// Learns which link belongs to which central.
    private func learn() {
        guard let adapter else { return }
        if control?.isOpen != true {
            control = kernelLinks.control(adapter, on: loop) { [weak self] in self?.take($0) }
        }
        let links = kernelLinks.links(of: adapter) ?? []
        table.learn(links.map { ($0.connection, devices.id(ofLink: $0.address)) })
    }

    private func take(_ event: LinkEvent) {
        if let central = table.take(event) { changed?(central, table.parameters(of: central)) }
        questions.take(event)
        setTimer()
    }

    private func setTimer() {
        timer?.cancel()
        timer = questions.deadline.map { deadline in
            loop.schedule(after: ContinuousClock.now.duration(to: deadline)) { [weak self] in
                self?.questions.endLate(at: .now)
                self?.setTimer()
            }
        }
    }

    /// Sends a command about the link of a central.
    ///
    /// - Returns: The outcome, which arrives later.
    func ask(
        about central: Central.ID,
        _ command: (UInt16) -> LinkCommand
    ) throws(PeripheralError) -> AsyncStream<LinkQuestions.Outcome> {
        guard devices.central(central) != nil else { throw .notConnected }
        if table.connection(of: central) == nil { learn() }
        guard let control, control.isOpen else {
            throw PeripheralError(
                code: .permissionDenied,
                message: "The program needs a Bluetooth socket to ask the controller. A container, or "
                    + "RestrictAddressFamilies= in a systemd unit, can prohibit Bluetooth sockets."
            )
        }
        guard let connection = table.connection(of: central) else { throw .notConnected }
        let command = command(connection)
        guard !questions.contains(command) else {
            throw PeripheralError(
                code: .rejected,
                message: "The same request for this central waits already."
            )
        }
        try control.send(command)
        let outcome = questions.add(command, at: .now)
        setTimer()
        return outcome
    }
}
