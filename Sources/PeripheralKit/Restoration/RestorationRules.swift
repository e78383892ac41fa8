/// The rules for identifiers and states in the stores of this package.
package enum RestorationRules {
    /// The longest identifier, in bytes of UTF-8.
    package static let maximumIdentifierLength = 4096

    /// Checks that an identifier is valid.
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
            message: "The restoration identifier \(problem). Use 1 to \(maximumIdentifierLength) bytes "
                + "without U+0000, such as \"com.example.lamp\"."
        )
    }

    /// Checks that each name, key and value of a state can be saved unchanged.
    package static func check(_ restorationState: RestorationState) throws(RestorationError) {
        for group in restorationState.groups {
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
                        "it contains U+0000; use another encoding"
                    )
                }
            }
        }
    }

    /// Returns whether a text can be the name of a group or a key.
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

    /// Creates the error for an identifier whose record is open.
    package static func inUse(_ identifier: String) -> RestorationError {
        RestorationError(
            code: .inUse,
            message:
                "The restoration identifier \"\(identifier)\" is in use by another peripheral, in this program "
                + "or another. Run one peripheral at a time, or give each its own identifier."
        )
    }

    /// Creates the error for the use of a closed record.
    package static func closed(_ identifier: String) -> RestorationError {
        RestorationError(
            code: .closed,
            message: "The record of \"\(identifier)\" is closed. Open the record again."
        )
    }

    /// Searches the bytes in place, which is several times as fast as a view of the text.
    private static func containsZero(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    private static func unwritable(_ element: String, _ remedy: String) -> RestorationError {
        RestorationError(code: .unwritable, message: "\(element) cannot be preserved: \(remedy).")
    }
}
