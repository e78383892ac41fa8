internal import CPeripheralGLib

/// SHA-256 as text, which detects damaged state and distinguishes identifiers.
enum Digest {
    static let length = 64

    static func hexadecimal(of bytes: ArraySlice<UInt8>) -> String {
        unsafe bytes.withUnsafeBufferPointer { unsafe compute($0) }
    }

    private static func compute(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard
            let digest = unsafe g_compute_checksum_for_data(
                G_CHECKSUM_SHA256,
                bytes.baseAddress,
                gsize(bytes.count)
            )
        else { return "" }
        defer { unsafe g_free(digest) }
        return unsafe String(cString: digest)
    }
}
