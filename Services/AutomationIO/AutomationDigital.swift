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
    /// Centrals can read a digital input and subscribe to it. Centrals can read and write a digital output.
    ///
    /// If the service declares an Aggregate characteristic, centrals subscribe to the aggregate instead of
    /// the inputs.
    ///
    /// In a service with an Aggregate characteristic, no input has the property Notify or Indicate
    /// (Automation IO Service 1.0, condition C3).
    ///
    /// Create the ``AutomationIOService`` before you use the `value` property.
    public var value: Characteristic<DigitalStates> { state.isAggregated ? aggregated : alone }

    private let alone: Characteristic<DigitalStates>
    private let aggregated: Characteristic<DigitalStates>

    let state: InputState
    let isInput: Bool

    /// The number of digital inputs or outputs in the group.
    public let count: Int

    /// Declares inputs.
    ///
    /// - Parameters:
    ///   - states: The initial states of the inputs. The array must contain 1 to 255 states, one for each
    ///     input.
    ///   - name: The human-readable name of the group of inputs. A User Description descriptor contains the
    ///     name.
    ///   - which: A description that distinguishes the group of inputs from other groups. The description is
    ///     required if the service has several Digital characteristics.
    ///   - isConfirmed: Whether the service sends states as indications instead of notifications. If the
    ///     service has an Aggregate characteristic, the `isConfirmed` parameter has no effect.
    ///   - hasTriggers: Whether the group of inputs has the descriptors Value Trigger Setting and Time
    ///     Trigger Setting. Centrals write these two descriptors to choose when the service sends the states.
    ///     If `hasTriggers` is `false`, the service sends the states after every change.
    ///   - security: The link security that a central needs to read the inputs, to subscribe to the inputs,
    ///     and to set their triggers.
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
    ///   - states: The initial states of the outputs. The array must contain 1 to 255 states, one for each
    ///     output.
    ///   - name: The human-readable name of the group of outputs. A User Description descriptor contains the
    ///     name.
    ///   - which: A description that distinguishes the group of outputs from other groups. The description is
    ///     required if the service has several Digital characteristics.
    ///   - security: The link security that a central needs to read and write the outputs.
    ///   - handler: A closure that handles the states written by a central. The array contains one state for
    ///     each output. If the central writes `.unknown` for an output, the closure receives the current
    ///     state of the output. If the closure throws an error, the service rejects the states.
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
