public import PeripheralKit

/// An analog input or output of an ``AutomationIOService``.
///
/// ```swift
/// let level = AutomationAnalog.input(0, name: "Tank", format: PresentationFormat(.uint16, exponent: -1, unit: .percentage))
/// let speed = AutomationAnalog.output(0, name: "Fan", within: 0...1000) { speed, _ in try await fan.set(speed) }
/// ```
public struct AutomationAnalog: Sendable {
    /// The Analog, 0x2A58: read and subscribed to when it is an input, read and written when it is an output.
    ///
    /// The input of a service with an aggregate is only read: "The Indicate and Notify properties are excluded for the Digital
    /// and Analog characteristics if the Aggregate characteristic is supported" (definition of the service, C3). Take it when
    /// the service is there, which makes it so.
    public var value: Characteristic<UInt16> { state.isAggregated ? aggregated : alone }

    private let alone: Characteristic<UInt16>
    private let aggregated: Characteristic<UInt16>

    let state: InputState
    let isInput: Bool

    /// Declares an input.
    ///
    /// - Parameters:
    ///   - initial: The value at first.
    ///   - name: What it is, for people; a User Description descriptor.
    ///   - format: In what it is measured; a service with several analogs needs it.
    ///   - range: What the value can be; a Valid Range descriptor.
    ///   - isConfirmed: Whether, in a service without an aggregate, values are indicated instead of notified.
    ///   - hasTriggers: Whether centrals set what is sent, and when, by trigger setting descriptors. Without, every change
    ///     is sent.
    ///   - security: What it takes to read, to subscribe, and to write triggers.
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
    ///   - initial: The value at first.
    ///   - name: What it is, for people; a User Description descriptor.
    ///   - format: In what it is measured; a service with several analogs needs it.
    ///   - range: What may be written, which is also told by a Valid Range descriptor; all else is refused by
    ///     `ATTError.outOfRange`.
    ///   - security: What it takes to read and write.
    ///   - handler: Takes what a central has written. Throwing refuses it.
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
