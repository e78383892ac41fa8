public import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit

/// The Bluetooth stack that an ``InMemoryBackend`` imitates.
///
/// ```swift
/// try await lamp.test(as: .bluez("5.87")) { central in … }
/// ```
///
/// By default, tests imitate the oldest version of BlueZ that `PeripheralBlueZ` supports. Then a peripheral
/// that passes its tests does not depend on a newer version.
public struct InMemoryStack: Hashable, Sendable, CustomStringConvertible {
    /// The imitated version of BlueZ; `nil` for a stack without the limits of BlueZ.
    private let version: BlueZVersion?

    /// Returns the stack that imitates a version of BlueZ on a Bluetooth 5 adapter, such as `"5.87"`.
    ///
    /// The stack refuses the same declarations as this version, and changes the errors of handlers in the
    /// same way. It can send an update to one of several subscribers only if this version can. Its own
    /// services have the same handles, and its advertisements have the same bytes. A test with a version that
    /// is not one of `BlueZVersion.known` throws `DeclarationError`.
    public static func bluez(_ version: BlueZVersion) -> InMemoryStack { InMemoryStack(version: version) }

    /// The stack without the limits of BlueZ.
    ///
    /// The stack accepts each valid declaration, and passes on each error of a handler. Its own services and
    /// its advertisements are those of BlueZ 5.87.
    public static let specification = InMemoryStack(version: nil)

    /// The stack as text, such as `BlueZ 5.66`.
    public var description: String { version.map { "BlueZ \($0)" } ?? "specification" }
}

extension InMemoryStack {
    /// The name in messages, such as `BlueZ 5.66`.
    var name: String { version == nil ? "The in-memory stack" : description }

    /// The version whose own services and advertisements the stack has.
    var baseVersion: BlueZVersion { version ?? .v5_87 }

    /// The capabilities of the adapter.
    var capabilities: AdvertisingCapabilities { .extended(baseVersion) }

    /// - Throws: `DeclarationError` if the stack refuses a part of the declaration.
    func examine(_ publication: BackendPublication) throws(DeclarationError) {
        guard let version else { return }
        // The rules report the versions that are too old, or none.
        if version > BlueZVersion.known.upperBound, let error = BlueZVersionError(imitating: version) {
            let reason = "BlueZ \(error.text) cannot be imitated, because its behavior is not known"
            let remedy =
                "use a version from \(BlueZVersion.known.lowerBound) to \(BlueZVersion.known.upperBound), "
                + "or .specification"
            throw DeclarationError(
                issues: [
                    DeclarationIssue(severity: .error, element: "peripheral", reason: reason, remedy: remedy)
                ]
            )
        }
        let errors = BlueZRules(version).examine(publication).filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
    }

    /// Whether an update can be sent to one of several subscribers.
    ///
    /// Before 5.76, one socket serves all subscribers. Before 5.80, bluetoothd does not report which
    /// subscriber has confirmed an indication.
    func canAddress(_ kind: UpdateKind) -> Bool {
        guard let version else { return true }
        return version >= (kind == .notification ? .socketPerSubscriber : .confirmationsOnSockets)
    }

    /// Returns the error that the central receives.
    func received(_ error: ATTError, from operation: RequestRefusal.Operation) -> ATTError {
        version.map { RequestRefusal(error, operation: operation, version: $0).received } ?? error
    }
}
