extension Int {
    /// Creates the number that bluetoothd reads with `strtol` and the base 0.
    ///
    /// The prefix `0x` marks a hexadecimal number, and the prefix `0` an octal number. An empty text is 0.
    /// Spaces may precede the number, but not follow it.
    init?(strtol text: String) {
        var digits = text.drop { $0.isWhitespace }
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits.removeFirst() }
        guard !text.isEmpty else {
            self = 0
            return
        }
        let radix: Int
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            radix = 16
            digits.removeFirst(2)
        } else {
            radix = digits.hasPrefix("0") ? 8 : 10
        }
        // The initializer of Int accepts a second sign.
        guard digits.first?.isHexDigit == true, let magnitude = Int(digits, radix: radix) else { return nil }
        self = isNegative ? -magnitude : magnitude
    }
}
