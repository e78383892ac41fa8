public import PeripheralKit

/// The state of a digital input or output (Automation IO Service 1.0, section 3.1).
public enum DigitalState: UInt8, Hashable, Sendable, CaseIterable {
    /// The input or output is off.
    case inactive = 0
    /// The input or output is on.
    case active = 1
    /// The output is disconnected (tristate).
    case tristate = 2
    /// The state is unknown.
    case unknown = 3
}

/// The states of several digital inputs or outputs.
///
/// `DigitalStates` represents the value of the Digital characteristic, 0x2A56 (Automation IO Service 1.0,
/// section 3.1).
public struct DigitalStates: Hashable, Sendable {
    /// The states in the order of the digital inputs or outputs.
    ///
    /// A decoded value contains four states for each byte. If the number of inputs or outputs is not a
    /// multiple of four, the last byte contains unused states. Unused states have no meaning.
    public var states: [DigitalState]

    /// Creates a value from the states of digital inputs or outputs.
    public init(_ states: [DigitalState]) {
        self.states = states
    }
}

extension DigitalStates: ExpressibleByArrayLiteral {
    /// Creates a value from the states of digital inputs or outputs.
    public init(arrayLiteral states: DigitalState...) {
        self.init(states)
    }
}

extension DigitalStates: GATTValue {
    /// Reads all remaining bytes, with four states in each byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        states = reader.readRemaining().flatMap { byte in
            stride(from: 0, to: 8, by: 2).map { DigitalState(rawValue: byte >> $0 & 0x3) ?? .unknown }
        }
    }

    /// Appends one byte for every four states.
    ///
    /// The two lowest bits of a byte contain the first of the four states.
    public func encode(into writer: inout ByteWriter) {
        for start in stride(from: 0, to: states.count, by: 4) {
            var byte: UInt8 = 0
            for (place, state) in states[start..<min(start + 4, states.count)].enumerated() {
                byte |= state.rawValue << (2 * place)
            }
            writer.write(byte)
        }
    }
}
