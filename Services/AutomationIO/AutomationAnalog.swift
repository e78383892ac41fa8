public import PeripheralKit

/// An analog input or output of an ``AutomationIOService``.
///
/// ```swift
/// let level = AutomationAnalog.input(
///     0, name: "Tank", format: PresentationFormat(.uint16, exponent: -1, unit: .percentage)
/// )
/// let speed = AutomationAnalog.output(0, name: "Fan", within: 0...1000) { speed, _ in
///     try await fan.set(speed)
/// }
/// ```
public struct AutomationAnalog: Sendable {
    /// The Analog characteristic, 0x2A58.
    ///
    /// Centrals can read an analog input and subscribe to it. Centrals can read and write an analog output.
    ///
    /// If the service declares an Aggregate characteristic, centrals subscribe to the aggregate instead of
    /// the inputs.
    ///
    /// In a service with an Aggregate characteristic, no input has the property Notify or Indicate
    /// (Automation IO Service 1.0, condition C3).
    ///
    /// Create the ``AutomationIOService`` before you use the `value` property.
    public var value: Characteristic<UInt16> { state.isAggregated ? aggregated : alone }

    private let alone: Characteristic<UInt16>
    private let aggregated: Characteristic<UInt16>

    let state: InputState
    let isInput: Bool

    /// Declares an input.
    ///
    /// - Parameters:
    ///   - initial: The initial value.
    ///   - name: The human-readable name of the input. A User Description descriptor contains the name.
    ///   - format: The unit and the format of the input value. The format is required if the service has
    ///     several Analog characteristics.
    ///   - range: The range of the input value. A Valid Range descriptor contains the range.
    ///   - isConfirmed: Whether the service sends values as indications instead of notifications. If the
    ///     service has an Aggregate characteristic, the `isConfirmed` parameter has no effect.
    ///   - hasTriggers: Whether the input has the descriptors Value Trigger Setting and Time Trigger Setting.
    ///     Centrals write these two descriptors to choose when the service sends the value. If `hasTriggers`
    ///     is `false`, the service sends the value after every change.
    ///   - security: The link security that a central needs to read the input, to subscribe to the input, and
    ///     to set its triggers.
    /// - Returns: The input.
    public static func input(
        _ initial: UInt16,
        name: String? = nil,
        format: PresentationFormat? = nil,
        within range: ClosedRange<UInt16>? = nil,
        isConfirmed: Bool = false,
        hasTriggers: Bool = false,
        security: AttributeSecurity = .open
    ) -> AutomationAnalog {
        let state = InputState(initial.gattBytes, isAnalog: true)
        func value(_ properties: CharacteristicProperties) -> Characteristic<UInt16> {
            Characteristic(.analog, properties, security: security) {
                Read { try UInt16(gattBytes: state.value) }
                description(name, format, range)
                if hasTriggers { triggers(of: state, security) }
            }
        }
        return AutomationAnalog(
            alone: value(isConfirmed ? [.read, .indicate] : [.read, .notify]),
            aggregated: value(.read),
            state: state,
            isInput: true
        )
    }

    /// Declares an output.
    ///
    /// - Parameters:
    ///   - initial: The initial value.
    ///   - name: The human-readable name of the output. A User Description descriptor contains the name.
    ///   - format: The unit and the format of the output value. The format is required if the service has
    ///     several Analog characteristics.
    ///   - range: The range of values that centrals can write. A Valid Range descriptor contains the range.
    ///     The service rejects a value outside the range with `ATTError.outOfRange`.
    ///   - security: The link security that a central needs to read and write the output.
    ///   - handler: A closure that handles each value written by a central. If the closure throws an error,
    ///     the service rejects the value.
    /// - Returns: The output.
    public static func output(
        _ initial: UInt16,
        name: String? = nil,
        format: PresentationFormat? = nil,
        within range: ClosedRange<UInt16>? = nil,
        security: AttributeSecurity = .open,
        onWrite handler: @escaping @Sendable (_ value: UInt16, _ central: Central) async throws -> Void
    ) -> AutomationAnalog {
        let state = InputState(initial.gattBytes, isAnalog: true)
        let value = Characteristic<UInt16>(.analog, [.read, .write], security: security) {
            Read { try UInt16(gattBytes: state.value) }
            Write { value, central in
                guard range?.contains(value) ?? true else { throw ATTError.outOfRange }
                try await handler(value, central)
                state.keep(value.gattBytes)
            }
            description(name, format, range)
        }
        return AutomationAnalog(
            alone: value,
            aggregated: value,
            state: state,
            isInput: false
        )
    }

    @CharacteristicBuilder<UInt16>
    private static func description(
        _ name: String?,
        _ format: PresentationFormat?,
        _ range: ClosedRange<UInt16>?
    ) -> [CharacteristicElement<UInt16>] {
        if let format { format }
        if let name { UserDescription(name) }
        if let range { ValidRange(range) }
    }
}
