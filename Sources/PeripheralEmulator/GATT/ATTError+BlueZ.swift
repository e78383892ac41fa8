internal import PeripheralBlueZModel
internal import PeripheralCore

extension ATTError {
    /// Creates the error that bluetoothd sends to the central for a D-Bus error of the application.
    ///
    /// - Parameters:
    ///   - name: The name of the D-Bus error.
    ///   - message: The text of the D-Bus error.
    ///   - version: The version of bluetoothd.
    ///   - notPermitted: The meaning of `NotPermitted`, which depends on whether the request was a read or a
    ///     write.
    init(bluezError name: String, message: String, version: BlueZVersion, notPermitted: ATTError) {
        switch name {
        case "org.bluez.Error.Failed": self = .bluez(failed: message)
        case "org.bluez.Error.NotSupported": self = .requestNotSupported
        case "org.bluez.Error.NotAuthorized": self = .insufficientAuthorization
        case "org.bluez.Error.InvalidValueLength": self = .invalidAttributeValueLength
        case "org.bluez.Error.InvalidOffset": self = .invalidOffset
        case "org.bluez.Error.InProgress": self = .procedureAlreadyInProgress
        case "org.bluez.Error.ImproperlyConfigured" where version >= BlueZVersion(major: 5, minor: 76):
            self = .clientCharacteristicConfigurationImproperlyConfigured
        case "org.bluez.Error.NotPermitted": self = notPermitted
        default: self = .unlikelyError
        }
    }

    /// Returns the error for the text of `Failed`.
    ///
    /// The text is a number that `strtol` reads with base 0.
    private static func bluez(failed message: String) -> ATTError {
        guard let number = CInteger(message) else { return ATTError(rawValue: 0x80) }
        guard (0x80...0x9F).contains(number.low32Bits) else { return .unlikelyError }
        return ATTError(rawValue: UInt8(number.low32Bits))
    }
}

/// A number that is read like C's `strtol`, with the base of its prefix.
private struct CInteger {
    /// The lowest 32 bits.
    let low32Bits: UInt32

    /// Reads a number; an empty text is 0, and any other text without a number is `nil`.
    init?(_ text: String) {
        var digits = text.utf8.drop { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
        var isNegative = false
        if let sign = digits.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            digits = digits.dropFirst()
        }
        var base: Int64 = 10
        if digits.first == UInt8(ascii: "0") {
            base = 8
            if digits.dropFirst().first.map({ $0 | 0x20 }) == UInt8(ascii: "x") {
                base = 16
                digits = digits.dropFirst(2)
            }
        }
        var magnitude: Int64 = 0
        var count = 0
        for character in digits {
            guard let digit = Character(Unicode.Scalar(character)).hexDigitValue, digit < base else {
                return nil
            }
            let (product, overflowed) = magnitude.multipliedReportingOverflow(by: base)
            let (sum, carried) = product.addingReportingOverflow(Int64(digit))
            // A number that is too large is read as the largest number.
            magnitude = overflowed || carried ? .max : sum
            count += 1
        }
        guard count > 0 || text.isEmpty else { return nil }
        low32Bits = UInt32(truncatingIfNeeded: isNegative ? -magnitude : magnitude)
    }
}
