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
    /// Centrals read and subscribe to an input. Centrals read and write an output.
    ///
    /// If the service has an aggregate, centrals can only read the input. The definition of the service, C3,
    /// says: "The Indicate and Notify properties are excluded for the Digital and Analog characteristics if
    /// the Aggregate characteristic is supported." The service applies this rule. Use the property only after
    /// you have created the service.
    public var value: Characteristic<UInt16> { state.isAggregated ? aggregated : alone }

    private let alone: Characteristic<UInt16>
    private let aggregated: Characteristic<UInt16>

    let state: InputState
    let isInput: Bool

    /// Declares an input.
    ///
    /// - Parameters:
    ///   - initial: The initial value.
    ///   - name: A human-readable name, in a User Description descriptor.
    ///   - format: The unit and format of the value. A service with several analogs requires a format.
    ///   - range: The range of the value, in a Valid Range descriptor.
    ///   - isConfirmed: Whether values are indicated instead of notified. The parameter has an effect only in
    ///     a service without an aggregate.
    ///   - hasTriggers: Whether centrals choose the condition and the time of updates through trigger setting
    ///     descriptors. If `false`, every change is sent.
    ///   - security: The security required to read, to subscribe, and to write triggers.
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
    ///   - name: A human-readable name, in a User Description descriptor.
    ///   - format: The unit and format of the value. A service with several analogs requires a format.
    ///   - range: The range that centrals may write. A Valid Range descriptor contains the range. Values
    ///     outside the range are refused with `ATTError.outOfRange`.
    ///   - security: The security required to read and write.
    ///   - handler: Handles a value that a central has written. If the handler throws, the value is refused.
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
