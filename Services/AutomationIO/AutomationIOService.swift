public import PeripheralKit

/// The Automation IO service, 0x1815: digital and analog inputs and outputs.
///
/// It implements the Automation IO Service specification 1.0.
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
/// Each update checks the triggers that centrals have set, so a time interval ends at the first update after
/// it. Update an input as often as it is measured, even if its value has not changed. All centrals share the
/// same triggers.
public struct AutomationIOService: GATTServiceDeclaration {
    /// The digital inputs and outputs.
    public let digitals: [AutomationDigital]

    /// The analog inputs and outputs.
    public let analogs: [AutomationAnalog]

    /// The Aggregate, 0x2A5A: the values of all inputs in one; `nil` when it is not declared.
    ///
    /// The digital inputs come first, then the analog ones. Each value has the same form as in its own
    /// characteristic.
    public let aggregate: Characteristic<[UInt8]>?

    private let now: @Sendable () -> Duration

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - digitals: The digital inputs and outputs.
    ///   - analogs: The analog inputs and outputs.
    ///   - hasAggregate: Whether one characteristic has the values of all inputs. It is notified when the
    ///     triggers of an input require it. The inputs themselves can then only be read.
    ///   - clock: The clock for time triggers.
    ///   - security: The security required to read the aggregate and to subscribe to it. Require at least the
    ///     highest level that any input requires. Inputs and outputs have their own.
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

    /// Updates the states of digital inputs, and sends them if the triggers require it.
    ///
    /// - Parameters:
    ///   - digital: The inputs, which must belong to the service.
    ///   - states: The current states. Missing ones are `.unknown`.
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

    /// Updates the value of an analog input, and sends it if the triggers require it.
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
            // Called for the error that it throws when the characteristic is not an input.
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
