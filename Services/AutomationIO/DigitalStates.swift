public import PeripheralKit

/// The state of a digital input or output (Automation IO Service 1.0, section 3.1).
public enum DigitalState: UInt8, Hashable, Sendable, CaseIterable {
    /// Off.
    case inactive = 0
    /// On.
    case active = 1
    /// Neither, for an output that is cut off.
    case tristate = 2
    /// Not known.
    case unknown = 3
}

/// The states of several digital inputs or outputs: the value of a Digital, 0x2A56 (Automation IO Service 1.0, section 3.1).
public struct DigitalStates: Hashable, Sendable {
    /// The states, the first one first.
    ///
    /// What is received comes in fours, four to a byte; those beyond the number of digitals have no meaning.
    public var states: [DigitalState]

    /// Makes a value of states.
    public init(_ states: [DigitalState]) {
        self.states = states
    }
}

extension DigitalStates: ExpressibleByArrayLiteral {
    /// Makes a value of states.
    public init(arrayLiteral states: DigitalState...) {
        self.init(states)
    }
}

extension DigitalStates: GATTValue {
    /// Reads all bytes that are left, as four states each.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        states = reader.readRemaining().flatMap { byte in
            stride(from: 0, to: 8, by: 2).map { DigitalState(rawValue: byte >> $0 & 0x3) ?? .unknown }
        }
    }

    /// Appends a byte for each four states, or part of four, the first in the lowest bits.
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
