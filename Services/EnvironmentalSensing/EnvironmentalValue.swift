public import PeripheralKit

/// The encoded value of an ``EnvironmentalSensor``.
///
/// ```swift
/// let celsius = try await central.read(temperature.value).number(of: .temperature)
/// ```
///
/// The quantity determines the unit and the encoding. The bytes contain neither of the two.
public struct EnvironmentalValue: Hashable, Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates the value that is nearest to a number.
    ///
    /// - Parameters:
    ///   - number: The number in the quantity's unit; `nil` when unknown. A number outside the range is sent
    ///     as the nearest bound. An unknown number is sent as 0 if the quantity cannot represent an unknown
    ///     number.
    ///   - quantity: The quantity that is measured.
    public init(_ number: Double?, of quantity: EnvironmentalQuantity) {
        bytes = quantity.bytes(of: number)
    }

    /// Returns the number that the value represents.
    ///
    /// - Parameter quantity: The quantity that is measured.
    /// - Returns: The number in the quantity's unit; `nil` when it is unknown or not finite.
    /// - Throws: `GATTDecodingError` for a value that does not have the quantity's format, or is outside the
    ///   quantity's range.
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
