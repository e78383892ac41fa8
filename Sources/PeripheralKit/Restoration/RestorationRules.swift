/// What is alike in this package's own stores: what they demand of identifiers and documents, and how they refuse.
package enum RestorationRules {
    /// The longest identifier, in bytes of UTF-8.
    package static let maximumIdentifierLength = 4096

    /// Checks that a record can have an identifier.
    package static func check(identifier: String) throws(RestorationError) {
        let problem: String
        if identifier.isEmpty {
            problem = "is empty"
        } else if identifier.utf8.count > maximumIdentifierLength {
            problem = "has \(identifier.utf8.count) bytes"
        } else if containsZero(identifier) {
            problem = "contains U+0000"
        } else {
            return
        }
        throw RestorationError(
            code: .invalidIdentifier,
            message: "The restoration identifier \(problem); use 1 to \(maximumIdentifierLength) bytes "
                + "without U+0000, such as \"com.example.lamp\"."
        )
    }

    /// Checks that every name, key and value of a document can be kept as it is.
    package static func check(_ document: RestorationDocument) throws(RestorationError) {
        for group in document.groups {
            guard isName(group.name) else {
                throw unwritable(
                    "The group \"\(group.name)\"",
                    "use ASCII letters, digits and hyphens for its name"
                )
            }
            for entry in group.entries {
                guard isName(entry.key) else {
                    throw unwritable(
                        "The key \"\(entry.key)\" of the group \"\(group.name)\"",
                        "use ASCII letters, digits and hyphens for it"
                    )
                }
                guard !containsZero(entry.value) else {
                    throw unwritable(
                        "The value of \"\(entry.key)\" in the group \"\(group.name)\"",
                        "it contains U+0000; encode it otherwise"
                    )
                }
            }
        }
    }

    /// Whether a text can name a group or a key.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The error for an identifier whose record is open.
    package static func inUse(_ identifier: String) -> RestorationError {
        RestorationError(
            code: .inUse,
            message:
                "The restoration identifier \"\(identifier)\" is in use by another peripheral, in this program or "
                + "in another one; run one at a time, or give each an identifier of its own."
        )
    }

    /// The error for a record that is used after it was closed.
    package static func closed(_ identifier: String) -> RestorationError {
        RestorationError(
            code: .closed,
            message: "The record of \"\(identifier)\" is closed; open it again to use it."
        )
    }

    /// Goes through the bytes where they are, which is several times as fast as through a view of the text.
    private static func containsZero(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    private static func unwritable(_ element: String, _ remedy: String) -> RestorationError {
        RestorationError(code: .unwritable, message: "\(element) cannot be preserved: \(remedy).")
    }
}
