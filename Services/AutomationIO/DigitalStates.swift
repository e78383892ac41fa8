public import PeripheralKit

/// The state of a digital input or output (Automation IO Service 1.0, section 3.1).
public enum DigitalState: UInt8, Hashable, Sendable, CaseIterable {
    /// Off.
    case inactive = 0
    /// On.
    case active = 1
    /// Neither off nor on: the output is disconnected.
    case tristate = 2
    /// Unknown.
    case unknown = 3
}

/// The states of several digital inputs or outputs.
///
/// This type represents the value of the Digital characteristic, 0x2A56 (Automation IO Service 1.0, section
/// 3.1).
public struct DigitalStates: Hashable, Sendable {
    /// The states, in order.
    ///
    /// A received value contains four states for each byte. States beyond the number of digitals have no
    /// meaning.
    public var states: [DigitalState]

    /// Creates a value from states.
    public init(_ states: [DigitalState]) {
        self.states = states
    }
}

extension DigitalStates: ExpressibleByArrayLiteral {
    /// Creates a value from states.
    public init(arrayLiteral states: DigitalState...) {
        self.init(states)
    }
}

extension DigitalStates: GATTValue {
    /// Reads four states from each of the remaining bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        states = reader.readRemaining().flatMap { byte in
            stride(from: 0, to: 8, by: 2).map { DigitalState(rawValue: byte >> $0 & 0x3) ?? .unknown }
        }
    }

    /// Appends one byte for every four states, with the first state in the lowest bits.
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
