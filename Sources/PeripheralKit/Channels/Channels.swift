internal import Logging
internal import PeripheralCore
private import Synchronization

/// The L2CAP channels of a run, each with the task of its handler.
final class Channels: Sendable {
    private struct State {
        var table: ChannelTable
        /// The numbers of the listeners, by their indices; `nil` while the peripheral is off the air.
        var psms: [UInt16?]
    }

    private let listeners: [L2CAPListener]
    private let logger: Logger
    private let state: Mutex<State>

    init(_ listeners: [L2CAPListener], logger: Logger) {
        self.listeners = listeners
        self.logger = logger
        let off = [UInt16?](repeating: nil, count: listeners.count)
        state = Mutex(State(table: ChannelTable(limits: listeners.map(\.limits)), psms: off))
    }

    /// The number of a listener.
    ///
    /// - Throws: ``PeripheralError`` with the code `notDeclared` if the peripheral does not have the
    ///   listener, or `connectionLost` if the peripheral is off the air.
    func psm(of listener: DeclarationIdentity) throws(PeripheralError) -> UInt16 {
        guard let index = listeners.firstIndex(where: { $0.identity == listener }) else {
            throw PeripheralError(
                code: .notDeclared,
                message:
                    "The peripheral does not declare the listener. Add the L2CAPListener to the Peripheral."
            )
        }
        guard let psm = state.withLock({ $0.psms[index] }) else { throw .offTheAir }
        return psm
    }

    /// Records that the backend listens.
    func listening(_ index: Int, on psm: UInt16) {
        guard listeners.indices.contains(index) else { return }
        let former = state.withLock { state in
            defer { state.psms[index] = psm }
            return state.psms[index]
        }
        let listener = listeners[index]
        logger.debug("The peripheral accepts L2CAP channels.", metadata: ["peripheral.psm": .psm(psm)])
        if let wanted = listener.requestedPSM.number, wanted != psm, former != psm {
            logger.notice(
                """
                Another program has the requested PSM of an L2CAP listener. The listener has another PSM, which the \
                characteristic of the listener reports.
                """,
                metadata: ["peripheral.requested": .psm(wanted), "peripheral.psm": .psm(psm)]
            )
        }
    }

    /// Begins the handler of a channel, or closes the channel if a limit is reached.
    func open(
        _ channel: any BackendChannel,
        of central: Central,
        through index: Int,
        in session: PeripheralSession
    ) {
        guard listeners.indices.contains(index), let psm = state.withLock({ $0.psms[index] }) else {
            return channel.abort()
        }
        let number: UInt64
        switch state.withLock({ $0.table.admit(central.id, through: index) }) {
        case .success(let admitted): number = admitted
        case .failure(let refusal):
            report(refusal, psm, of: central)
            return channel.abort()
        }
        let (input, output) = (Wakeup(), Wakeup())
        channel.begin { [weak self] event in
            switch event {
            case .input: input.wake()
            case .output: output.wake()
            case .closed: self?.state.withLock { $0.table.closed(number) }
            }
        }
        let listener = listeners[index]
        let open = L2CAPChannel(
            channel,
            of: central,
            psm: psm,
            input: input,
            output: output
        )
        logger.debug("A central has opened an L2CAP channel.", metadata: metadata(psm, central))
        let task = Task { await handle(open, number, by: listener.handler, in: session) }
        if !state.withLock({ $0.table.begin(number, open, task) }) {
            open.end()
            task.cancel()
        }
    }

    private func handle(
        _ channel: L2CAPChannel,
        _ number: UInt64,
        by handler: L2CAPListener.Handler,
        in session: PeripheralSession
    ) async {
        do {
            try await handler(channel, session)
            logger.debug("The handler of an L2CAP channel has returned.", metadata: metadata(channel))
        } catch {
            // A channel that ends makes the calls of its handler throw.
            let isConsequence =
                (error as? PeripheralError)?.code == .disconnected || error is CancellationError
            logger.log(
                level: isConsequence ? .debug : .warning,
                "The handler of an L2CAP channel threw an error. The channel is closed.",
                metadata: metadata(channel).merging(["peripheral.error": "\(error)"]) { $1 }
            )
        }
        state.withLock { $0.table.returned(number) }
        channel.close()
    }

    private func report(_ refusal: ChannelTable.Refusal, _ psm: UInt16, of central: Central) {
        let limit: String
        switch refusal {
        case .ended: return
        case .centralHasTooMany: limit = "channelsPerCentral"
        case .listenerHasTooMany: limit = "channels"
        }
        logger.warning(
            "An L2CAP channel is closed, because the limit of its listener is reached.",
            metadata: metadata(psm, central).merging(["peripheral.limit": .bounded(limit)]) { $1 }
        )
    }

    private func metadata(_ channel: L2CAPChannel) -> Logger.Metadata {
        metadata(channel.psm, channel.central)
    }

    private func metadata(_ psm: UInt16, _ central: Central) -> Logger.Metadata {
        ["peripheral.psm": .psm(psm), "peripheral.central": "\(central.address)"]
    }

    /// Lets the calls of a central's channels notice that the central has disconnected.
    func disconnected(_ central: Central.ID) {
        let channels = state.withLock { state in
            state.table.entries.filter { $0.central == central }.compactMap(\.channel)
        }
        for channel in channels { channel.wake() }
    }

    /// Records that the peripheral is off the air.
    func suspended() {
        let channels = state.withLock { state in
            for index in state.psms.indices { state.psms[index] = nil }
            return state.table.entries.compactMap(\.channel)
        }
        for channel in channels { channel.wake() }
    }

    /// Ends all channels, and refuses further ones.
    func stop() {
        let channels = state.withLock { state in
            state.table.end()
            return state.table.entries.compactMap(\.channel)
        }
        for channel in channels { channel.end() }
    }

    /// Cancels the handlers.
    func cancelHandlers() {
        for entry in state.withLock({ $0.table.entries.map(\.task) }) { entry?.cancel() }
    }

    /// Cancels the handlers, and waits until they have returned.
    func endHandlers() async {
        stop()
        cancelHandlers()
        while let task = state.withLock({ $0.table.entries.lazy.compactMap(\.task).first }) {
            await task.value
        }
    }
}

extension Logger.MetadataValue {
    fileprivate static func psm(_ psm: UInt16) -> Self { "0x\(String(psm, radix: 16, uppercase: true))" }
}
