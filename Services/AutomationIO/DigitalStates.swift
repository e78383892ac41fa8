public import PeripheralKit

/// The state of a digital input or output (Automation IO Service 1.0, section 3.1).
public enum DigitalState: UInt8, Hashable, Sendable, CaseIterable {
    /// Off.
    case inactive = 0
    /// On.
    case active = 1
    /// Neither: the output is disconnected.
    case tristate = 2
    /// Unknown.
    case unknown = 3
}

/// The states of several digital inputs or outputs.
///
/// It is the value of a Digital, 0x2A56 (Automation IO Service 1.0, section 3.1).
public struct DigitalStates: Hashable, Sendable {
    /// The states, in order.
    ///
    /// A received value has a multiple of four states, four to a byte. States beyond the number of digitals
    /// have no meaning.
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
    /// Reads all remaining bytes as four states each.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        states = reader.readRemaining().flatMap { byte in
            stride(from: 0, to: 8, by: 2).map { DigitalState(rawValue: byte >> $0 & 0x3) ?? .unknown }
        }
    }

    /// Appends one byte for every four states, the first state in the lowest bits.
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
