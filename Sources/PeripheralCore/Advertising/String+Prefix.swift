extension String {
    /// The longest prefix of whole characters that occupies at most this many UTF-8 bytes.
    package func longestPrefix(ofUTF8ByteCount limit: Int) -> Substring {
        var byteCount = 0
        return prefix { character in
            byteCount += character.utf8.count
            return byteCount <= limit
        }
    }
}
