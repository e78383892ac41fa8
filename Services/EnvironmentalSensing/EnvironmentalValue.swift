public import PeripheralKit

/// The value of an ``EnvironmentalSensor``: a number in the unit of what is measured, as it is on the air.
///
/// ```swift
/// let celsius = try await central.read(temperature.value).number(of: .temperature)
/// ```
///
/// How a number is written is a matter of the quantity, which the bytes do not tell.
public struct EnvironmentalValue: Hashable, Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes the value that is nearest to a number.
    ///
    /// - Parameters:
    ///   - number: The number in the quantity's unit, sent as the least or greatest of what is out of range; `nil` when it is
    ///     not known, and 0 where the quantity cannot say so.
    ///   - quantity: What is measured.
    public init(_ number: Double?, of quantity: EnvironmentalQuantity) {
        bytes = quantity.bytes(of: number)
    }

    /// The number that the value stands for.
    ///
    /// - Parameter quantity: What is measured.
    /// - Returns: The number in the quantity's unit; `nil` when it is not known, or cannot be told.
    /// - Throws: `GATTDecodingError` for a value that is none of the quantity, or out of its range.
    public func number(of quantity: EnvironmentalQuantity) throws(GATTDecodingError) -> Double? {
        try quantity.number(of: bytes)
    }
}

extension EnvironmentalValue: GATTValue {
    /// Reads one to four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        bytes = [try reader.read()] + (try reader.readBytes(min(reader.remainingCount, 3)))
    }

    /// Appends one to four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bytes)
    }
}
