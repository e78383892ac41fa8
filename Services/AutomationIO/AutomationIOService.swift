public import PeripheralKit

/// The Automation IO service, 0x1815, with digital and analog inputs and outputs.
///
/// The service implements the Automation IO Service specification 1.0.
///
/// ```swift
/// import PeripheralAutomationIO
/// import PeripheralBlueZ
/// import PeripheralKit
///
/// let button = AutomationDigital.input([.inactive], name: "Button")
/// let pump = AutomationDigital.output([.inactive], name: "Pump") { states, _ in
///     try await relay.set(states[0])
/// }
/// let io = AutomationIOService(digitals: [button, pump])
///
/// try await Peripheral("Automat") { io }.run(on: .bluez) { session in
///     for await isDown in line.levels {
///         try await io.update(button, to: [isDown ? .active : .inactive], in: session)
///     }
/// }
/// ```
///
/// Centrals can set triggers for an input. The triggers determine when the service sends the value of the
/// input. The service checks the triggers only when the program updates the input. The service sends the
/// value at the first update after the interval of a time trigger has ended. Update an input after each
/// measurement, even if the measured value has not changed. All centrals share the triggers of an input.
public struct AutomationIOService: GATTServiceDeclaration {
    /// The digital inputs and outputs of the service.
    public let digitals: [AutomationDigital]

    /// The analog inputs and outputs of the service.
    public let analogs: [AutomationAnalog]

    /// The Aggregate characteristic, 0x2A5A, which contains the values of all inputs.
    ///
    /// The property is `nil` if the service does not declare the Aggregate characteristic.
    ///
    /// In the aggregate, the values of the digital inputs precede the values of the analog inputs. Each value
    /// is encoded as in the Digital or Analog characteristic of its input.
    public let aggregate: Characteristic<[UInt8]>?

    private let now: @Sendable () -> Duration

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - digitals: The digital inputs and outputs of the service.
    ///   - analogs: The analog inputs and outputs of the service.
    ///   - hasAggregate: Whether the service declares an Aggregate characteristic with the values of all
    ///     inputs. The service sends the aggregate as a notification when the triggers of any input require a
    ///     notification. If a service declares an aggregate, centrals can subscribe to the aggregate, but not
    ///     to the inputs.
    ///   - clock: The clock that measures the intervals of time triggers.
    ///   - security: The link security that a central needs to read the aggregate and to subscribe to it. The
    ///     security level of the aggregate must be at least as high as the security level of each input. Each
    ///     input and each output has its own `security` parameter.
    public init<C: Clock>(
        digitals: [AutomationDigital] = [],
        analogs: [AutomationAnalog] = [],
        hasAggregate: Bool = false,
        clock: C = ContinuousClock(),
        security: AttributeSecurity = .open
    ) where C.Duration == Duration {
        self.digitals = digitals
        self.analogs = analogs
        if hasAggregate {
            for state in Self.inputs(of: digitals, analogs) { state.becomeAggregated() }
        }
        let start = clock.now
        now = { start.duration(to: clock.now) }
        aggregate =
            hasAggregate
            ? Characteristic(.aggregate, [.read, .notify], security: security) {
                Read { Self.inputs(of: digitals, analogs).flatMap(\.value) }
            } : nil
    }

    /// Updates the states of digital inputs.
    ///
    /// The triggers of the inputs determine whether the method sends the states. The method sends the states
    /// to the subscribers as a notification or as an indication.
    ///
    /// - Parameters:
    ///   - digital: The digital inputs to update. The inputs must belong to the service.
    ///   - states: The current states, one for each input. If the array is too short, the method uses
    ///     `.unknown` for the remaining inputs.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` or `session.indicate` throws. If `digital` is a group of
    ///   outputs, the method throws a `PeripheralError` with the code `notDeclared`.
    public func update(
        _ digital: AutomationDigital,
        to states: [DigitalState],
        in session: PeripheralSession
    ) async throws {
        let missing = [DigitalState](repeating: .unknown, count: max(0, digital.count - states.count))
        let value = DigitalStates(Array(states.prefix(digital.count)) + missing)
        try await update(digital.value, digital.state, to: value, in: session)
    }

    /// Updates the value of an analog input.
    ///
    /// The triggers of the input determine whether the method sends the value. The method sends the value to
    /// the subscribers as a notification or as an indication.
    ///
    /// - Parameters:
    ///   - analog: The analog input to update. The input must belong to the service.
    ///   - value: The current value.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` or `session.indicate` throws. If `analog` is an output, the
    ///   method throws a `PeripheralError` with the code `notDeclared`.
    public func update(_ analog: AutomationAnalog, to value: UInt16, in session: PeripheralSession)
        async throws
    {
        try await update(analog.value, analog.state, to: value, in: session)
    }

    private func update<Value>(
        _ characteristic: Characteristic<Value>,
        _ state: InputState,
        to value: Value,
        in session: PeripheralSession
    ) async throws {
        let inputs = Self.inputs(of: digitals, analogs)
        guard let aggregate, inputs.contains(where: { $0 === state }) else {
            // This call throws an error if the characteristic is not an input.
            _ = try session.subscribers(of: characteristic)
            guard state.update(to: value.gattBytes, at: now()) else { return }
            if characteristic.properties.contains(.indicate) {
                try await session.indicate(characteristic, value)
            } else {
                try await session.notify(characteristic, value)
            }
            return
        }
        _ = try session.subscribers(of: aggregate)
        guard state.update(to: value.gattBytes, at: now()) else { return }
        try await session.notify(aggregate, inputs.flatMap(\.value))
    }

    private static func inputs(of digitals: [AutomationDigital], _ analogs: [AutomationAnalog])
        -> [InputState]
    {
        digitals.filter(\.isInput).map(\.state) + analogs.filter(\.isInput).map(\.state)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.automationIO) {
            digitals.map(\.value)
            analogs.map(\.value)
            if let aggregate { aggregate }
        }
    }
}
