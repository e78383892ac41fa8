internal import PeripheralDBus
internal import PeripheralKit

/// Follows the links of the connected centrals, and asks the controller about them.
///
/// The kernel reports the events of the controller before bluetoothd reports their effects. The object
/// belongs to the event loop.
final class Links {
    /// The time after which a central that does not answer loses its link (Core Specification, Vol 6, Part B,
    /// 5.2), and a little more.
    private static let limit = Duration.seconds(45)

    private let devices: DeviceRegister
    private let kernelLinks: any KernelLinks
    private let loop: EventLoop
    private var adapter: ObjectPath?
    private var control: (any LinkControl)?
    private var table = LinkTable()
    private var questions = LinkQuestions()
    /// Ends the questions that stay without an answer.
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
        endQuestions(.notConnected) { _ in true }
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
            endQuestions(.notConnected) { $0.command.connection == connection }
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
        endQuestions(.notConnected) { _ in false }
    }

    /// Ends some questions.
    ///
    /// Without a timer, the loop does not wake up a program that asks nothing.
    private func endQuestions(_ error: PeripheralError, _ isMeant: (LinkQuestions.Question) -> Bool) {
        questions.end(.failure(error), isMeant)
        if questions.isEmpty { setTimer(nil) }
    }

    private func setTimer(_ source: LoopSource?) {
        timer?.cancel()
        timer = source
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
        // A measurement is answered at once. Repeated measurements must not extend the wait for a central.
        if timer == nil || command.opcode == LinkCommand.updateOpcode {
            setTimer(
                loop.schedule(after: Self.limit) { [weak self] in
                    self?.timer = nil
                    let message = "The controller has not answered in time."
                    self?.endQuestions(PeripheralError(code: .timedOut, message: message)) { _ in true }
                }
            )
        }
        return questions.add(command)
    }
}
