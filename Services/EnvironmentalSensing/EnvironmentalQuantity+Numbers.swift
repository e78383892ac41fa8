internal import PeripheralKit

extension EnvironmentalQuantity {
    /// Encodes a number in the format of the quantity.
    ///
    /// - Parameter number: The number in the quantity's unit; `nil` when unknown.
    /// - Returns: The encoded bytes. `nil` and NaN are encoded as unknown, or as 0 if the quantity has no
    ///   value for unknown.
    func bytes(of number: Double?) -> [UInt8] {
        let known = number.flatMap { $0.isNaN ? nil : $0 }
        guard let counts else { return (known.map { MedicalShortFloat($0) } ?? .nan).gattBytes }
        let count: Int =
            if let known {
                Int((known * stepsPerUnit).rounded().clamped(to: counts))
            } else {
                unknown ?? 0
            }
        return (0..<encoding.size).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }

    /// Decodes a number in the format of the quantity.
    ///
    /// - Parameter bytes: The bytes, as many as the quantity has.
    /// - Returns: The number in the quantity's unit; `nil` when it is unknown or not finite.
    /// - Throws: `GATTDecodingError`, also for a number that is out of the quantity's range.
    func number(of bytes: [UInt8]) throws(GATTDecodingError) -> Double? {
        guard let counts else {
            let number = try MedicalShortFloat(gattBytes: bytes)
            return number.isFinite ? number.doubleValue : nil
        }
        guard bytes.count == encoding.size else {
            throw GATTDecodingError(
                code: bytes.count < encoding.size ? .tooShort : .trailingBytes,
                message: "a value of characteristic \(type) has \(encoding.size) bytes, not \(bytes.count)"
            )
        }
        var count = bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        let signBit = 1 << (8 * encoding.size - 1)
        if encoding.isSigned, count & signBit != 0 { count -= 2 * signBit }
        if count == unknown { return nil }
        guard counts.contains(count) else {
            throw .invalidValue(
                "\(count) is not a value of \(type); those are \(counts.lowerBound) through \(counts.upperBound)"
            )
        }
        return Double(count) / stepsPerUnit
    }

    /// The presentation format of the quantity's values.
    ///
    /// - Parameter which: A description that distinguishes the sensor from other sensors.
    /// - Returns: The presentation format.
    func format(_ which: PresentationFormat.Description) -> PresentationFormat {
        PresentationFormat(encoding.format, exponent: exponent, unit: unit, description: which)
    }

    private var stepsPerUnit: Double {
        switch exponent {
        case -1: 10
        case -2: 100
        case -3: 1000
        default: 1
        }
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Double {
        max(Double(range.lowerBound), min(self, Double(range.upperBound)))
    }
}
