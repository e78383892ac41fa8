@testable import PeripheralBlueZ
@testable import PeripheralCore
@testable import PeripheralKit

extension Entrance {
    /// What a store hands back as the preserved state of a peripheral.
    ///
    /// An input is the text of a document: `[group]`, and lines of a key, `=` and a value. Where the
    /// fingerprint is `?`, the right one is put there: nothing could guess it. Behind a line `---` stands
    /// what the same peripheral was before.
    static let preservedStates = Entrance(name: "preserved-states") { bytes in
        let parts = bytes.split(separator: Array("\n---\n".utf8), maxSplits: 1)
        guard let part = parts.first, let state = state(in: part) else { return }
        let written = state.restorationState
        check((try? RestorationRules.check(written)) != nil, "it cannot be saved")
        guard let again = try? PreservedState(decoding: written) else { return check(false, "\(written)") }
        check(again == state, "\(state) becomes \(again)")
        check(again.restorationState == written)
        examine(backendState: state.backendState)
        let changes = examine(state.database, after: state.database)
        check(changes.added.isEmpty && changes.removed.isEmpty && changes.changed.isEmpty, "\(changes)")
        if !state.database.table.services.isEmpty {
            plantedFault(Array(state.name.utf8), count: 6, mask: 0x10)
        }
        guard parts.count == 2, let former = Self.state(in: parts[1]) else { return }
        let forth = examine(state.database, after: former.database)
        let back = examine(former.database, after: state.database)
        check(forth.added == back.removed && forth.removed == back.added, "\(forth) and \(back)")
        check(forth.changed.count == back.changed.count, "\(forth) and \(back)")
    }

    /// The state of a document; `nil` when it is refused.
    private static func state(in bytes: ArraySlice<UInt8>) -> PreservedState? {
        var restorationState = restorationState(in: bytes)
        if restorationState["peripheral"]?["fingerprint"] == "?",
            let database = try? PreservedDatabase(decoding: restorationState["database"])
        {
            restorationState["peripheral"]?["fingerprint"] = database.fingerprint.preservedText
        }
        do throws(RestorationError) {
            return try PreservedState(decoding: restorationState)
        } catch {
            check(error.code == .damaged || error.code == .newerVersion, "\(error)")
            return nil
        }
    }

    /// What the backend takes of the text that it has preserved, it writes so that it takes the same.
    private static func examine(backendState text: String) {
        guard let record = HandleRecord(text) else { return }
        check(HandleRecord(record.text) == record, "\(text) becomes \(record.text)")
        for range in record.checked { check(record.isChecked(range, in: record.database, page: record.page)) }
    }

    /// What has changed from one database to another.
    ///
    /// The services of the new one find places that do not overlap.
    private static func examine(
        _ database: PreservedDatabase,
        after old: PreservedDatabase
    ) -> DeclarationChanges {
        let (table, match) = (database.table, DatabaseMatch(of: database.table, with: old.table))
        let plan = HandlePlan(for: table, after: old, match)
        var taken: [ClosedRange<Int>] = []
        for (service, start) in plan.startsOnAir {
            let range = table.serviceRange(service)
            let count = Int(range.upperBound.rawValue) - Int(range.lowerBound.rawValue)
            let place = Int(start.rawValue)...Int(start.rawValue) + count
            check(place.upperBound <= 0xFFFF, "service \(service) stands at \(place)")
            if table.services[service].handle == nil {
                check(!taken.contains(where: place.overlaps), "\(plan)")
            }
            taken.append(place)
        }
        let arranged = AttributeOrder(of: table, after: old.table).arrange(table.services)
        for (service, former) in zip(arranged, table.services) {
            check(service.characteristics.count == former.characteristics.count)
            check(Set(service.characteristics.map(\.uuid)) == Set(former.characteristics.map(\.uuid)))
        }
        let changes = DatabaseComparison(of: database, with: old, match).changes
        for element in changes.added + changes.removed + changes.changed + changes.moved {
            check(element.description.hasSuffix("service \(element.service)"))
        }
        return changes
    }

    private static func restorationState(in bytes: ArraySlice<UInt8>) -> RestorationState {
        var restorationState = RestorationState()
        var group: RestorationState.Group?
        for line in bytes.split(separator: UInt8(ascii: "\n")).prefix(200) {
            if line.first == UInt8(ascii: "[") {
                if let group { restorationState.append(group) }
                group = RestorationState.Group(
                    String(decoding: line.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self)
                )
            } else {
                let parts = line.split(
                    separator: UInt8(ascii: "="),
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
                guard parts.count == 2 else { continue }
                group?[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
            }
        }
        if let group { restorationState.append(group) }
        return restorationState
    }
}
