internal import PeripheralCore
public import PeripheralKit

/// The rules that determine whether a version of BlueZ supports the declaration of a peripheral.
///
/// ```swift
/// let issues = peripheral.validate(for: .bluez("5.66"))
/// ```
///
/// The rules describe bluetoothd with its default configuration. If a setting of bluetoothd solves a problem,
/// the remedy names the setting.
///
/// The rules do not cover these subjects. The article "Limits of BlueZ by version" in the documentation of
/// `BlueZBackend` describes them:
///
/// - The services of other programs. The services of other programs change the handles of services that are
///   not pinned. Therefore the Database Hash depends on the services of other programs. See
///   `GATTService.handle`.
/// - The errors that handlers throw.
/// - Calls of the program, such as an update for one of several subscribers.
/// - Limits and crashes that every characteristic with a handler or with updates can meet.
public struct BlueZRules: StackProfile {
    /// The version of BlueZ that the rules describe.
    public let version: BlueZVersion

    /// The oldest version of BlueZ that this module supports.
    public static let minimumVersion = BlueZVersion.v5_66

    /// Creates the rules for the given BlueZ version.
    public init(_ version: BlueZVersion) {
        self.version = version
    }

    /// Returns the issues that a declaration has with this version of BlueZ.
    ///
    /// An issue describes a part of the declaration that BlueZ refuses, ignores or changes.
    public func examine(_ publication: BackendPublication) -> [DeclarationIssue] {
        if let literal = version.malformedLiteral {
            return [
                DeclarationIssue(
                    severity: .error,
                    element: "peripheral",
                    reason: "\"\(literal)\" is not a version of BlueZ",
                    remedy: "write two numbers separated by a point, as in .bluez(\"5.66\")"
                )
            ]
        }
        guard version >= Self.minimumVersion else {
            return [
                DeclarationIssue(
                    severity: .error,
                    element: "peripheral",
                    reason: "BlueZ \(version) is not supported",
                    remedy: "use BlueZ \(Self.minimumVersion) or later"
                )
            ]
        }
        let table = publication.table
        var issues: [DeclarationIssue] = []
        var issuesOfCharacteristics: [DeclarationIssue] = []
        for (index, service) in table.services.enumerated() {
            issues += examine(service, at: table.pinnedRange(index) ?? table.serviceRange(index))
            for (position, characteristic) in service.characteristics.enumerated() {
                let handle = table.valueHandle(service: index, characteristic: position)
                let name = ElementName.characteristic(
                    characteristic.uuid,
                    publication.userDescriptions[handle],
                    of: service.uuid
                )
                issuesOfCharacteristics += examine(
                    characteristic,
                    named: name,
                    maximumLength: publication.maximumLengths[handle]
                )
            }
        }
        issues += issuesOfCharacteristics.joined
        return issues + examineLayout(of: table) + examine(publication.advertisements)
    }

    private func examine(_ advertisements: [Advertisement]) -> [DeclarationIssue] {
        advertisements.indices.flatMap { index in
            let name = advertisements.name(at: index)
            // `validate()` already reports these issues.
            let reported = advertisements[index].roomIssues(named: name)
            return advertisements[index].issues(for: version, named: name)
                .filter { issue in
                    !reported.contains { $0.element == issue.element && $0.severity == issue.severity }
                }
        }
    }
}

extension StackProfile where Self == BlueZRules {
    /// Returns the rules for a BlueZ version, such as `"5.66"`.
    public static func bluez(_ version: BlueZVersion) -> BlueZRules { BlueZRules(version) }

    /// Returns the rules for a BlueZ version that is known only at run time.
    ///
    /// ```swift
    /// let issues = peripheral.validate(for: try .bluez(version: arguments[1]))
    /// ```
    ///
    /// - Parameter text: The version in the format of `bluetoothd --version`, such as `5.66`.
    /// - Returns: The rules.
    /// - Throws: ``BlueZVersionError`` if the text is not a version.
    public static func bluez(version text: String) throws(BlueZVersionError) -> BlueZRules {
        guard let version = BlueZVersion(text) else { throw BlueZVersionError(text: text) }
        return BlueZRules(version)
    }
}

extension [DeclarationIssue] {
    /// The issues, with one issue for all characteristics that BlueZ treats in the same way.
    fileprivate var joined: [DeclarationIssue] {
        var joined: [DeclarationIssue] = []
        for issue in self {
            let index = joined.firstIndex {
                $0.severity == issue.severity && $0.reason == issue.reason && $0.remedy == issue.remedy
            }
            guard let index else {
                joined.append(issue)
                continue
            }
            joined[index] = DeclarationIssue(
                severity: issue.severity,
                element: "\(joined[index].element), \(issue.element)",
                reason: issue.reason,
                remedy: issue.remedy
            )
        }
        return joined
    }
}

// MARK: - Services

extension BlueZRules {
    /// The handles of bluetoothd's own services: Generic Access, Generic Attribute and Device Information.
    private var ownHandles: ClosedRange<AttributeHandle> {
        0x0001...(version < BlueZVersion(major: 5, minor: 81) ? 0x0014 : 0x0012)
    }

    /// The first handle that the database hash does not cover.
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
                        "BlueZ publishes its own Device Information service, which centrals find first",
                    remedy: "set DeviceID = false in the section [General] of BlueZ's main.conf"
                )
            )
        }
        guard service.handle != nil else {
            if !version.reportsHandles, !service.characteristics.isEmpty {
                issues.append(
                    DeclarationIssue(
                        severity: .error,
                        element: element,
                        reason: "BlueZ \(version) cannot assign handles to characteristics",
                        remedy:
                            "pin the service at 0x0100 or higher, in a block of 16 handles that no other program uses "
                            + "(GATTService(…, handle: 0x0100)), or use BlueZ 5.76 or later"
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
                    reason: "BlueZ's own services use the handles up to \(ownHandles.upperBound)",
                    remedy:
                        "pin the service at 0x0100 or higher, in a block of 16 handles that no other program uses"
                )
            )
        }
        if range.overlaps(HandleBlock.claims) {
            issues.append(
                DeclarationIssue(
                    severity: .error,
                    element: element,
                    reason:
                        "programs that use this framework reserve their handles with services at 0x00c0 to 0x00ff",
                    remedy: "pin the service at 0x0100 or higher"
                )
            )
        }
        if range.upperBound >= Self.endOfHash {
            issues.append(
                DeclarationIssue(
                    severity: .warning,
                    element: element,
                    reason:
                        "it uses handles above 0x03ff, which BlueZ's database hash does not cover, "
                        + "so centrals keep using the attributes that they have cached",
                    remedy: "pin the service at a lower handle"
                )
            )
        }
        return issues
    }

    /// Places the services after BlueZ's services, and reports collisions of pinned and other services.
    private func examineLayout(of table: AttributeTable) -> [DeclarationIssue] {
        let first = AttributeHandle(rawValue: ownHandles.upperBound.rawValue + 1)
        do {
            let table = try AttributeTable(services: table.services, firstHandle: first)
            let isTooLarge = table.services.indices.contains { index in
                table.services[index].handle == nil && table.serviceRange(index).upperBound >= Self.endOfHash
            }
            guard isTooLarge else { return [] }
            return [
                DeclarationIssue(
                    severity: .warning,
                    element: "peripheral",
                    reason:
                        "its services use handles above 0x03ff, which BlueZ's database hash does not cover, "
                        + "so centrals keep using the attributes that they have cached",
                    remedy: "declare fewer characteristics and descriptors"
                )
            ]
        } catch {
            return [
                DeclarationIssue(
                    severity: .error,
                    element: "peripheral",
                    reason: "BlueZ's own services use the first handles, and therefore \(error)",
                    remedy: "pin all services, or use higher handles for the pinned services"
                )
            ]
        }
    }
}
