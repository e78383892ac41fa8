extension String {
    /// The longest beginning that takes no more bytes in UTF-8 and ends between two characters.
    package func longestPrefix(ofUTF8ByteCount limit: Int) -> Substring {
        var byteCount = 0
        return prefix { character in
            byteCount += character.utf8.count
            return byteCount <= limit
        }
    }
}
