/// The source of the bytes of a readable attribute.
package enum ReadSource: Sendable {
    case value([UInt8])
    case handler(ReadHandler)
    /// The persistent value of the characteristic.
    case persistent
    /// The attribute handles of the given presentation formats.
    case handles(AggregateFormat.Parts)
}

/// Returns the bytes that a central reads.
package typealias ReadHandler =
    @Sendable (_ central: Central, _ session: PeripheralSession) async throws -> [UInt8]

/// Handles the bytes that a central writes.
package typealias WriteHandler =
    @Sendable (_ value: [UInt8], _ central: Central, _ session: PeripheralSession) async throws -> Void

/// The destination of the bytes that a central writes.
package enum WriteTarget: Sendable {
    case handler(WriteHandler)
    /// The persistent value of the characteristic.
    case persistent
    /// A buffer with room for `capacity` writes.
    ///
    /// The `check` closure refuses bytes that cannot be decoded, before these bytes enter the buffer.
    case stream(capacity: Int, check: @Sendable (_ value: [UInt8]) throws -> Void)
    /// A control point handler, which performs requests.
    ///
    /// If `responds` is `true`, the control point sends a response to each request. If `responds` is `false`,
    /// the control point sends no responses.
    case controlPoint(ControlPointHandler, responds: Bool)

    /// Whether the writes enter a buffer.
    var isStream: Bool { if case .stream = self { true } else { false } }
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
