public import PeripheralCore
public import PeripheralKit

/// What a version of BlueZ makes of a declaration.
///
/// ```swift
/// let issues = peripheral.validate(for: .bluez("5.66"))
/// ```
///
/// The rules are those of a bluetoothd as it comes: what its configuration changes is in the remedies. They know nothing
/// of other programs' services: where those that are not pinned stand, and with them the Database Hash, is told by
/// `GATTService.handle`. Nor of the errors that handlers throw: ``BlueZBackend`` has a table of them.
public struct BlueZRules: StackRules {
    /// The version.
    public let version: BlueZVersion

    /// The first version that this module runs on.
    public static let minimumVersion = BlueZVersion.v5_66

    /// Makes the rules of a version.
    public init(_ version: BlueZVersion) {
        self.version = version
    }

    /// Finds what this version of BlueZ refuses, or does in another way than declared.
    public func examine(_ publication: Publication) -> [DeclarationIssue] {
        guard version >= Self.minimumVersion else {
            return [
                DeclarationIssue(
                    severity: .error,
                    element: "peripheral",
                    reason: "BlueZ \(version) cannot serve it",
                    remedy: "use BlueZ \(Self.minimumVersion) or later"
                )
            ]
        }
        let table = publication.table
        var issues: [DeclarationIssue] = []
        for (index, service) in table.services.enumerated() {
            issues += examine(service, at: table.serviceRange(index))
            for characteristic in service.characteristics {
                issues += examine(characteristic, of: service)
            }
        }
        return issues + examineLayout(of: table) + examine(publication.advertisements)
    }

    private func examine(_ advertisements: [Advertisement]) -> [DeclarationIssue] {
        advertisements.indices.flatMap { index in
            let name = advertisements.name(at: index)
            // `validate()` reports these already.
            let reported = advertisements[index].roomIssues(named: name)
            return advertisements[index].issues(for: version, named: name)
                .filter { issue in
                    !reported.contains { $0.element == issue.element && $0.severity == issue.severity }
                }
        }
    }
}

extension StackRules where Self == BlueZRules {
    /// The rules of a version of BlueZ, such as `"5.66"`.
    public static func bluez(_ version: BlueZVersion) -> BlueZRules { BlueZRules(version) }
}

// MARK: - Services

extension BlueZRules {
    /// What bluetoothd has taken before any application comes: Generic Access, Generic Attribute and Device
    /// Information.
    private var ownHandles: ClosedRange<AttributeHandle> {
        0x0001...(version < BlueZVersion(major: 5, minor: 81) ? 0x0014 : 0x0012)
    }

    /// From this handle on, the database hash stays as it is, whatever changes.
    private static let endOfHash: AttributeHandle = 0x0400

    private func examine(
        _ service: ServiceDescription,
        at range: ClosedRange<AttributeHandle>
    ) -> [DeclarationIssue] {
        let element = "service \(service.uuid)"
        var issues: [DeclarationIssue] = []
        if service.uuid == .deviceInformation {
            issues.append(
                DeclarationIssue(
                    severity: .warning,
                    element: element,
                    reason:
                        "BlueZ publishes a Device Information service of its own, which centrals find first",
                    remedy: "write DeviceID = false into the section General of BlueZ's main.conf"
                )
            )
        }
        guard service.handle != nil else {
            if placesNoCharacteristics, !service.characteristics.isEmpty {
                issues.append(
                    DeclarationIssue(
                        severity: .error,
                        element: element,
                        reason: "BlueZ \(version) finds no place for a characteristic by itself",
                        remedy:
                            "pin the service at 0x0100 or behind, in a block of 16 handles that no other program uses, "
                            + "or use BlueZ 5.76 or later"
                    )
                )
            }
            return issues
        }
        if range.overlaps(ownHandles) {
            issues.append(
                DeclarationIssue(
                    severity: .error,
                    element: element,
                    reason: "BlueZ's own services take the handles up to \(ownHandles.upperBound)",
                    remedy:
                        "pin the service at 0x0100 or behind, in a block of 16 handles that no other program uses"
                )
            )
        }
        if range.overlaps(HandleBlock.claims) {
            issues.append(
                DeclarationIssue(
                    severity: .error,
                    element: element,
                    reason:
                        "programs keep out of each other's handles by services of their own at 0x00c0 to 0x00ff",
                    remedy: "pin the service at 0x0100 or behind"
                )
            )
        }
        if range.upperBound >= Self.endOfHash {
            issues.append(
                DeclarationIssue(
                    severity: .warning,
                    element: element,
                    reason:
                        "it reaches beyond the handle 0x03ff, where BlueZ's database hash no longer changes, "
                        + "so that centrals keep what they remember",
                    remedy: "pin the service further down"
                )
            )
        }
        return issues
    }

    /// Two versions refuse a characteristic without a handle of its own (bluez/bluez issue 821).
    private var placesNoCharacteristics: Bool {
        BlueZVersion(major: 5, minor: 74) <= version && version < BlueZVersion(major: 5, minor: 76)
    }

    /// Lays the services out behind BlueZ's own, where those that are not pinned may meet those that are.
    private func examineLayout(of table: AttributeTable) -> [DeclarationIssue] {
        let first = AttributeHandle(rawValue: ownHandles.upperBound.rawValue + 1)
        do {
            _ = try AttributeTable(services: table.services, firstHandle: first)
            return []
        } catch {
            return [
                DeclarationIssue(
                    severity: .error,
                    element: "peripheral",
                    reason: "behind BlueZ's own services, \(error)",
                    remedy: "pin all services, or those that are pinned further up"
                )
            ]
        }
    }
}
