public import PeripheralKit

/// The encoded value of an ``EnvironmentalSensor``.
///
/// ```swift
/// let celsius = try await central.read(temperature.value).number(of: .temperature)
/// ```
///
/// The ``EnvironmentalQuantity`` determines the unit and the encoding of a value. The encoded bytes contain
/// only a number, and do not identify the unit or the encoding.
public struct EnvironmentalValue: Hashable, Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates the encoded value that is nearest to a number.
    ///
    /// - Parameters:
    ///   - number: The number in the unit of the quantity, or `nil` if the number is unknown. The initializer
    ///     limits the number to the range of the quantity. If the encoding of the quantity cannot represent
    ///     an unknown number, the initializer encodes an unknown number as 0.
    ///   - quantity: The quantity that the sensor measures.
    public init(_ number: Double?, of quantity: EnvironmentalQuantity) {
        bytes = quantity.bytes(of: number)
    }

    /// Returns the number that the value represents.
    ///
    /// - Parameter quantity: The quantity that the sensor measures.
    /// - Returns: The number in the unit of the quantity, or `nil` if the number is unknown or not finite.
    /// - Throws: `GATTDecodingError` if the value does not have the format of the quantity, or if the number
    ///   is outside the range of the quantity.
    public func number(of quantity: EnvironmentalQuantity) throws(GATTDecodingError) -> Double? {
        try quantity.number(of: bytes)
    }
}

extension EnvironmentalValue: GATTValue {
    /// Decodes a value of one to four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        bytes = [try reader.read()] + (try reader.readBytes(min(reader.remainingCount, 3)))
    }

    /// Appends the value as one to four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(bytes)
    }
}
