public import PeripheralKit

/// A group of digital inputs or outputs of an ``AutomationIOService``.
///
/// ```swift
/// let buttons = AutomationDigital.input([.inactive, .inactive], name: "Buttons")
/// let relays = AutomationDigital.output([.inactive], name: "Pump") { states, _ in
///     try await relay.set(states[0])
/// }
/// ```
public struct AutomationDigital: Sendable {
    /// The Digital characteristic, 0x2A56.
    ///
    /// Centrals read and subscribe to an input. Centrals read and write an output.
    ///
    /// If the service has an aggregate, centrals can only read the input. The definition of the service, C3,
    /// says: "The Indicate and Notify properties are excluded for the Digital and Analog characteristics if
    /// the Aggregate characteristic is supported." The service applies this rule. Use the property only after
    /// you have created the service.
    public var value: Characteristic<DigitalStates> { state.isAggregated ? aggregated : alone }

    private let alone: Characteristic<DigitalStates>
    private let aggregated: Characteristic<DigitalStates>

    let state: InputState
    let isInput: Bool

    /// The number of inputs or outputs.
    public let count: Int

    /// Declares inputs.
    ///
    /// - Parameters:
    ///   - states: The initial states, one for each input: 1 to 255.
    ///   - name: A human-readable name, in a User Description descriptor.
    ///   - which: A description that distinguishes the group from other groups. A service with several
    ///     digitals requires a description.
    ///   - isConfirmed: Whether states are indicated instead of notified. The parameter has an effect only in
    ///     a service without an aggregate.
    ///   - hasTriggers: Whether centrals choose the condition and the time of updates through trigger setting
    ///     descriptors. If `false`, every change is sent.
    ///   - security: The security required to read, to subscribe, and to write triggers.
    /// - Returns: The inputs.
    public static func input(
        _ states: [DigitalState],
        name: String? = nil,
        which: PresentationFormat.Description? = nil,
        isConfirmed: Bool = false,
        hasTriggers: Bool = false,
        security: AttributeSecurity = .open
    ) -> AutomationDigital {
        let state = InputState(DigitalStates(states).gattBytes, isAnalog: false)
        func value(_ properties: CharacteristicProperties) -> Characteristic<DigitalStates> {
            Characteristic(.digital, properties, security: security) {
                Read { try DigitalStates(gattBytes: state.value) }
                description(states.count, name, which)
                if hasTriggers { triggers(of: state, security) }
            }
        }
        return AutomationDigital(
            alone: value(isConfirmed ? [.read, .indicate] : [.read, .notify]),
            aggregated: value(.read),
            state: state,
            isInput: true,
            count: states.count
        )
    }

    /// Declares outputs.
    ///
    /// - Parameters:
    ///   - states: The initial states, one for each output: 1 to 255.
    ///   - name: A human-readable name, in a User Description descriptor.
    ///   - which: A description that distinguishes the group from other groups. A service with several
    ///     digitals requires a description.
    ///   - security: The security required to read and write.
    ///   - handler: Handles the states that a central has written, one for each output. If the central writes
    ///     `.unknown` for an output, the handler receives the current state of that output. If the handler
    ///     throws, the states are refused.
    /// - Returns: The outputs.
    public static func output(
        _ states: [DigitalState],
        name: String? = nil,
        which: PresentationFormat.Description? = nil,
        security: AttributeSecurity = .open,
        onWrite handler:
            @escaping @Sendable (_ states: [DigitalState], _ central: Central) async throws -> Void
    ) -> AutomationDigital {
        let initial = DigitalStates(states).gattBytes
        let state = InputState(initial, isAnalog: false)
        let value = Characteristic<DigitalStates>(
            .digital,
            [.read, .write],
            security: security,
            length: .exactly(initial.count)
        ) {
            Read { try DigitalStates(gattBytes: state.value) }
            Write { written, central in
                let current = try DigitalStates(gattBytes: state.value).states
                let new = zip(written.states.prefix(states.count), current).map { $0 == .unknown ? $1 : $0 }
                try await handler(new, central)
                state.keep(DigitalStates(new).gattBytes)
            }
            description(states.count, name, which)
        }
        return AutomationDigital(
            alone: value,
            aggregated: value,
            state: state,
            isInput: false,
            count: states.count
        )
    }

    @CharacteristicBuilder<DigitalStates>
    private static func description(
        _ count: Int,
        _ name: String?,
        _ which: PresentationFormat.Description?
    ) -> [CharacteristicElement<DigitalStates>] {
        if let which { PresentationFormat(.uint2, description: which) }
        if let name { UserDescription(name) }
        Descriptor(.numberOfDigitals, value: UInt8(clamping: count))
    }
}

/// The trigger setting descriptors of an input, which centrals read and write.
@CharacteristicBuilder<Value>
func triggers<Value: GATTValue>(
    of state: InputState,
    _ security: AttributeSecurity
) -> [CharacteristicElement<Value>] {
    // The type is bytes, because a reserved condition requires a separate error.
    Descriptor<[UInt8]>(.valueTriggerSetting, security: security) {
        Read { state.valueTrigger.gattBytes }
        Write { (bytes: [UInt8]) in
            guard bytes.first ?? 0 <= 7 else { throw ATTError.automationConditionNotSupported }
            try state.set(AutomationValueTrigger(gattBytes: bytes))
        }
    }
    Descriptor<[UInt8]>(.timeTriggerSetting, security: security) {
        Read { state.timeTrigger.gattBytes }
        Write { (bytes: [UInt8]) in
            guard bytes.first ?? 0 <= 3 else { throw ATTError.automationConditionNotSupported }
            state.set(try AutomationTimeTrigger(gattBytes: bytes))
        }
    }
}
