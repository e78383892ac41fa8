internal import PeripheralCore

/// Checks whether an advertisement is within the size limits of the Core Specification.
///
/// The size limits of the Core Specification apply to every Bluetooth stack. A Bluetooth stack can have lower
/// limits or refuse more advertisements. The ``StackProfile`` of the stack reports the limits of the stack.
struct AdvertisementRoom {
    /// The kind of adapter that sends the advertisement.
    enum Adapter {
        /// A Bluetooth 4 adapter, which supports only legacy advertising.
        ///
        /// An advertisement can contain up to 31 bytes of advertising data and up to 31 bytes of scan
        /// response data (Core Specification, Vol 6, Part B, 2.3.1).
        case legacy
        /// A Bluetooth 5 adapter, which supports both legacy and extended advertising.
        ///
        /// One HCI command can contain up to 251 bytes of extended advertising data (Core Specification, Vol
        /// 4, Part E, 7.8.54).
        case extended
    }

    private static let legacyLength = 31
    private static let extendedLength = 251

    private let advertisement: Advertisement
    private let adapter: Adapter
    private var usesExtendedAdvertising = false
    private(set) var issues: AdvertisementIssues

    init(for advertisement: Advertisement, on adapter: Adapter, named element: String) {
        self.advertisement = advertisement
        self.adapter = adapter
        issues = AdvertisementIssues(named: element)
        examineData()
        examineScanResponse()
        examineInterval()
    }

    private var isConnectable: Bool { advertisement.kind == .connectable }

    /// A connectable extended advertisement has no scan response (Vol 6, Part B, 4.4.2.4).
    private var hasScanResponse: Bool { !(isConnectable && usesExtendedAdvertising) }

    private var capacity: Int { usesExtendedAdvertising ? Self.extendedLength : Self.legacyLength }

    private mutating func examineData() {
        var data = AdvertisementStructures()
        data.append(
            services: advertisement.services ?? [],
            solicitedServices: advertisement.solicitedServices,
            manufacturerData: advertisement.manufacturerData,
            serviceData: advertisement.serviceData
        )
        let fieldsInFront = data.byteCount
        if let appearance = advertisement.appearance {
            data.append(.appearance, .appearance, appearance.gattBytes)
        }
        let appearanceLength = data.byteCount - fieldsInFront
        data.append(rawData: advertisement.rawData)
        if isConnectable || advertisement.discoverability.mode != .never {
            data.append(.flags, .flags, [0])
        }
        usesExtendedAdvertising =
            adapter == .extended
            && (advertisement.secondaryChannel != nil
                || data.byteCount - appearanceLength > Self.legacyLength)
        var room = capacity
        if advertisement.includes.contains(.txPower) {
            if adapter == .legacy || usesExtendedAdvertising {
                room -= 3
            } else {
                // The transmit power is the last structure, so it is the structure that does not fit.
                data.append(.txPower, .txPowerLevel, [0])
            }
        }
        examine(data, room: room)
        if !hasScanResponse { examineName(room: room - data.byteCount) }
    }

    private mutating func examineScanResponse() {
        let declared = advertisement.scanResponse
        guard hasScanResponse else {
            if !declared.isEmpty {
                issues.error(
                    "scan response",
                    "a connectable extended advertisement has none",
                    "move it into the advertisement, which has room for \(capacity) bytes"
                )
            }
            return
        }
        var response = AdvertisementStructures()
        response.append(
            services: declared.services,
            solicitedServices: declared.solicitedServices,
            manufacturerData: declared.manufacturerData,
            serviceData: declared.serviceData
        )
        response.append(rawData: declared.rawData)
        examineName(room: capacity - response.byteCount)
        examine(response, room: capacity)
    }

    /// A name can be shortened, but not to an empty name.
    ///
    /// If the other data already exceeds the room, the issue of that data is enough.
    private mutating func examineName(room: Int) {
        guard room >= 0, let name = advertisement.localName, !name.isEmpty else { return }
        let limit = min(room - 2, AdvertisingStructure.maximumDataCount)
        let sent = name.longestPrefix(ofUTF8ByteCount: limit)
        if sent.isEmpty {
            issues.hasNoRoomForName()
        } else if sent.endIndex < name.endIndex, name.utf8.count <= 248 {
            // A longer name is an error in any advertisement.
            issues.shortensName(to: sent, limit: limit)
        }
    }

    private mutating func examine(_ structures: AdvertisementStructures, room: Int) {
        var end = 0
        for structure in structures.elements {
            end += structure.byteCount
            if structure.isEmpty {
                issues.error(
                    "\(structure.field)",
                    "its data is empty",
                    "add at least one byte, or leave it out"
                )
            }
            guard end > room || structure.data.count > AdvertisingStructure.maximumDataCount else { continue }
            issues.exceedsRoom("\(structure.field)", endingAt: end, room: room)
        }
    }

    private mutating func examineInterval() {
        guard adapter == .legacy else { return }
        advertisement.examineLegacyInterval(&issues)
    }
}

extension Advertisement {
    /// Reports an interval that an adapter without extended advertising does not accept.
    package func examineLegacyInterval(_ issues: inout AdvertisementIssues) {
        for interval in [interval, slowing?.interval] {
            guard let interval, interval.maximum > .milliseconds(10_240) else { continue }
            return issues.error("interval", "it is more than 10240 ms", "choose a shorter one")
        }
    }

    /// Whether the advertisement fits on every adapter, or on every adapter with the secondary channel.
    var fitsWhereverPossible: Bool {
        !AdvertisementRoom(for: self, on: secondaryChannel == nil ? .legacy : .extended, named: "").issues.all
            .contains { $0.severity == .error }
    }

    /// Reports the data that fits on no adapter (errors).
    ///
    /// The warnings are about data that fits only on some adapters, and about a name that is shortened.
    ///
    /// - Parameter element: The name of the advertisement in the issues.
    /// - Returns: The issues.
    package func roomIssues(named element: String) -> [DeclarationIssue] {
        let extended = AdvertisementRoom(for: self, on: .extended, named: element).issues.all
        // A secondary channel exists on Bluetooth 5 only.
        let legacy =
            secondaryChannel == nil
            ? AdvertisementRoom(for: self, on: .legacy, named: element).issues.all : extended
        // A Bluetooth 5 adapter has the same room for the name, or more.
        return [DeclarationIssue].errors(onLegacy: legacy, onExtended: extended)
            + legacy.filter { $0.severity == .warning }
    }
}

extension [DeclarationIssue] {
    /// Joins the errors of an advertisement on both kinds of adapter.
    ///
    /// An error on both kinds stays an error. An error on only one kind becomes a warning that names that
    /// kind. Of the fields without room, only the first is listed, because the fields behind it then have no
    /// room either.
    package static func errors(
        onLegacy legacy: [DeclarationIssue],
        onExtended extended: [DeclarationIssue]
    ) -> [DeclarationIssue] {
        // The larger room of the extended adapter is the limit for both.
        let common = extended.errors.filter { legacy.errors.hasIssue(of: $0.element) }
        let isTooLarge = common.contains(where: \.isAboutRoom)
        func warnings(_ issues: [DeclarationIssue], on adapter: String) -> [DeclarationIssue] {
            issues.filter { !common.hasIssue(of: $0.element) && !($0.isAboutRoom && isTooLarge) }
                .withOneAboutRoom
                .map {
                    DeclarationIssue(
                        severity: .warning,
                        element: $0.element,
                        reason: "on a \(adapter) adapter, \($0.reason)",
                        remedy: $0.remedy
                    )
                }
        }
        return common.withOneAboutRoom + warnings(legacy.errors, on: "Bluetooth 4")
            + warnings(extended.errors, on: "Bluetooth 5")
    }

    private var errors: [DeclarationIssue] { filter { $0.severity == .error } }

    private var withOneAboutRoom: [DeclarationIssue] {
        let first = firstIndex(where: \.isAboutRoom)
        return indices.filter { $0 == first || !self[$0].isAboutRoom }.map { self[$0] }
    }

    private func hasIssue(of element: String) -> Bool { contains { $0.element == element } }
}
