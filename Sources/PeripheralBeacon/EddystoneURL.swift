/// The compression of URLs in an Eddystone-URL frame.
enum EddystoneURL {
    /// The beginnings of a URL, in the order of their codes.
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]

    /// The parts of a URL, in the order of their codes.
    ///
    /// Each part with a `/` precedes the same part without it.
    private static let parts: [String] =
        [".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/"]
        + [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]

    private static let maximumLength = 17

    static func encode(_ url: String) throws(EddystoneError) -> [UInt8] {
        guard let scheme = schemes.firstIndex(where: url.hasPrefix) else {
            throw EddystoneError(
                message: "The URL \(url) does not begin with http:// or https://, which a beacon can send."
            )
        }
        var rest = url.utf8.dropFirst(schemes[scheme].utf8.count)
        var bytes: [UInt8] = []
        while let byte = rest.first {
            if let part = parts.firstIndex(where: { rest.starts(with: $0.utf8) }) {
                bytes.append(UInt8(part))
                rest = rest.dropFirst(parts[part].utf8.count)
            } else if (0x21...0x7E).contains(byte) {
                bytes.append(byte)
                rest = rest.dropFirst()
            } else {
                throw EddystoneError(
                    message:
                        "The URL \(url) contains a space or a character outside of ASCII. Escape it with %."
                )
            }
        }
        guard bytes.count <= maximumLength else {
            throw EddystoneError(
                message: "The URL \(url) needs \(bytes.count) bytes after its beginning. "
                    + "There is room for \(maximumLength). Use a shorter URL."
            )
        }
        return [UInt8(scheme)] + bytes
    }
}
