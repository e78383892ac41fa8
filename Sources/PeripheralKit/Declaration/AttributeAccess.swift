/// Where the bytes of a readable attribute come from.
package enum ReadSource: Sendable {
    case value([UInt8])
    case handler(@Sendable (Central) async throws -> [UInt8])
    /// The value that is kept for the characteristic.
    case persistent
    /// The handles, on the air, of these presentation formats.
    case handles(AggregateFormat.Parts)
}

/// What takes the bytes that a central writes.
package typealias WriteHandler = @Sendable (_ value: [UInt8], _ central: Central) async throws -> Void

/// Where the bytes go that a central writes.
package enum WriteTarget: Sendable {
    case handler(WriteHandler)
    /// The value that is kept for the characteristic.
    case persistent
    /// A buffer of so many writes; what cannot be decoded is refused before it gets there.
    case stream(capacity: Int, check: @Sendable (_ value: [UInt8]) throws -> Void)
    /// Requests, to each of which there is a response, or to none.
    case controlPoint(ControlPointHandler, responds: Bool)
}

/// What a declaration says of reading and writing one attribute, faults included: validation finds them.
package struct AttributeAccess: Sendable {
    package var readSources: [ReadSource] = []
    package var writeTargets: [WriteTarget] = []
    package var authorizationHandlers: [AuthorizationHandler] = []

    /// Whether the value is given once and for all.
    package var isStatic: Bool {
        readSources.contains { if case .value = $0 { true } else { false } }
    }
}
