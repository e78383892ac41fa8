public import PeripheralKit

/// The Automation IO service, 0x1815: digital and analog inputs and outputs.
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
/// Each update checks the triggers that centrals have set. A time interval therefore ends at the first update
/// after the interval. Update an input after each measurement, even if the value has not changed. All
/// centrals share the same triggers.
public struct AutomationIOService: GATTServiceDeclaration {
    /// The digital inputs and outputs.
    public let digitals: [AutomationDigital]

    /// The analog inputs and outputs.
    public let analogs: [AutomationAnalog]

    /// The Aggregate, 0x2A5A: the values of all inputs; `nil` when it is not declared.
    ///
    /// The values of the digital inputs precede the values of the analog inputs. Each value is encoded as in
    /// the characteristic of its input.
    public let aggregate: Characteristic<[UInt8]>?

    private let now: @Sendable () -> Duration

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - digitals: The digital inputs and outputs.
    ///   - analogs: The analog inputs and outputs.
    ///   - hasAggregate: Whether an Aggregate characteristic contains the values of all inputs. The aggregate
    ///     is notified when the triggers of an input require an update. Centrals can then only read the
    ///     inputs, not subscribe to them.
    ///   - clock: The clock for time triggers.
    ///   - security: The security required to read the aggregate and to subscribe to it. Require at least the
    ///     highest level that any input requires. Each input and each output has a separate `security`
    ///     parameter.
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

    /// Updates the states of digital inputs, and sends the states if a trigger requires it.
    ///
    /// - Parameters:
    ///   - digital: The inputs, which must belong to the service.
    ///   - states: The current states. Missing states are `.unknown`.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify` or `session.indicate`; `PeripheralError` with the code
    ///   `notDeclared` for outputs.
    public func update(
        _ digital: AutomationDigital,
        to states: [DigitalState],
        in session: PeripheralSession
    ) async throws {
        let missing = [DigitalState](repeating: .unknown, count: max(0, digital.count - states.count))
        let value = DigitalStates(Array(states.prefix(digital.count)) + missing)
        try await update(digital.value, digital.state, to: value, in: session)
    }

    /// Updates the value of an analog input, and sends the value if a trigger requires it.
    ///
    /// - Parameters:
    ///   - analog: The input, which must belong to the service.
    ///   - value: The current value.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify` or `session.indicate`; `PeripheralError` with the code
    ///   `notDeclared` for an output.
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
            _ = try session.hasSubscribers(of: characteristic)
            guard state.update(to: value.gattBytes, at: now()) else { return }
            if characteristic.properties.contains(.indicate) {
                try await session.indicate(characteristic, value)
            } else {
                try await session.notify(characteristic, value)
            }
            return
        }
        _ = try session.hasSubscribers(of: aggregate)
        guard state.update(to: value.gattBytes, at: now()) else { return }
        try await session.notify(aggregate, inputs.flatMap(\.value))
    }

    private static func inputs(of digitals: [AutomationDigital], _ analogs: [AutomationAnalog])
        -> [InputState]
    {
        digitals.filter(\.isInput).map(\.state) + analogs.filter(\.isInput).map(\.state)
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.automationIO) {
            digitals.map(\.value)
            analogs.map(\.value)
            if let aggregate { aggregate }
        }
    }
}
