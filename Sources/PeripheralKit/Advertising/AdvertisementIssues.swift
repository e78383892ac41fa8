/// The issues of one advertisement, in the order in which they are found.
package struct AdvertisementIssues {
    /// The name of the advertisement in the issues.
    private let element: String

    /// The issues.
    package private(set) var all: [DeclarationIssue] = []

    package init(named element: String) {
        self.element = element
    }

    package mutating func error(_ field: String, _ reason: String, _ remedy: String) {
        append(.error, field, reason, remedy)
    }

    package mutating func warning(_ field: String, _ reason: String, _ remedy: String) {
        append(.warning, field, reason, remedy)
    }

    private mutating func append(
        _ severity: DeclarationIssue.Severity,
        _ field: String,
        _ reason: String,
        _ remedy: String
    ) {
        all.append(
            DeclarationIssue(
                severity: severity,
                element: "\(field) of the \(element)",
                reason: reason,
                remedy: remedy
            )
        )
    }
}

// MARK: - Room

extension AdvertisementIssues {
    /// Reports a structure that ends behind the room for it.
    package mutating func exceedsRoom(_ field: String, endingAt end: Int, room: Int) {
        error(
            field,
            "it ends at byte \(end), but there is room for only \(room)",
            DeclarationIssue.remedyForRoom
        )
    }

    /// Reports a name that cannot be sent.
    package mutating func hasNoRoomForName() {
        error("local name", "there is no room for it", DeclarationIssue.remedyForRoom)
    }

    /// Reports a name that is shortened.
    ///
    /// - Parameters:
    ///   - sent: The part of the name that fits.
    ///   - limit: The number of bytes that fit.
    package mutating func shortensName(to sent: Substring, limit: Int) {
        warning(
            "local name",
            "only its first \(sent.utf8.count) bytes fit",
            "choose a name of at most \(limit) bytes"
        )
    }
}

extension DeclarationIssue {
    fileprivate static let remedyForRoom = "leave something out, or shorten it"

    /// Whether an adapter has no room for the element.
    package var isAboutRoom: Bool { remedy == Self.remedyForRoom }
}
