/// The source of the bytes of a readable attribute.
package enum ReadSource: Sendable {
    case value([UInt8])
    case handler(@Sendable (Central) async throws -> [UInt8])
    /// The persistent value of the characteristic.
    case persistent
    /// The handles on the air of these presentation formats.
    case handles(AggregateFormat.Parts)
}

/// Handles the bytes that a central writes.
package typealias WriteHandler = @Sendable (_ value: [UInt8], _ central: Central) async throws -> Void

/// The destination of the bytes that a central writes.
package enum WriteTarget: Sendable {
    case handler(WriteHandler)
    /// The persistent value of the characteristic.
    case persistent
    /// A buffer with room for this many writes.
    ///
    /// Bytes that cannot be decoded are refused before they enter the buffer.
    case stream(capacity: Int, check: @Sendable (_ value: [UInt8]) throws -> Void)
    /// Requests to a control point. The control point sends a response either to each request or to none.
    case controlPoint(ControlPointHandler, responds: Bool)
}

/// The declared access to one attribute, before validation.
package struct AttributeAccess: Sendable {
    package var readSources: [ReadSource] = []
    package var writeTargets: [WriteTarget] = []
    package var authorizationHandlers: [AuthorizationHandler] = []

    /// Whether the value never changes.
    package var isStatic: Bool {
        readSources.contains { if case .value = $0 { true } else { false } }
    }
}
