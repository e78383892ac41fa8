internal import PeripheralKit

extension EnvironmentalQuantity {
    /// Writes a number in the way of the quantity.
    ///
    /// - Parameter number: The number in the quantity's unit; `nil` when it is not known.
    /// - Returns: Its bytes; those of 0 for `nil` and for what is none, where the quantity cannot say that it is not known.
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

    /// Reads a number that was written in the way of the quantity.
    ///
    /// - Parameter bytes: As many as the quantity has.
    /// - Returns: The number in the quantity's unit; `nil` when it is not known, or cannot be told.
    /// - Throws: `GATTDecodingError` also for a number that is out of the quantity's range.
    func number(of bytes: [UInt8]) throws(GATTDecodingError) -> Double? {
        guard let counts else {
            let number = try MedicalShortFloat(gattBytes: bytes)
            return number.isFinite ? number.doubleValue : nil
        }
        guard bytes.count == encoding.size else {
            throw GATTDecodingError(
                code: bytes.count < encoding.size ? .tooShort : .trailingBytes,
                message: "\(bytes.count) bytes are no value of \(type), which has \(encoding.size)"
            )
        }
        var count = bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        let signBit = 1 << (8 * encoding.size - 1)
        if encoding.isSigned, count & signBit != 0 { count -= 2 * signBit }
        if count == unknown { return nil }
        guard counts.contains(count) else {
            throw .invalidValue(
                "\(count) is no value of \(type): \(counts.lowerBound) through \(counts.upperBound) are"
            )
        }
        return Double(count) / stepsPerUnit
    }

    /// How its values are to be shown to people.
    ///
    /// - Parameter which: Which of several alike it is.
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
