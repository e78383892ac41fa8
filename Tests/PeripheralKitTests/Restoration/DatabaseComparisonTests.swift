import PeripheralCore
import Testing

@testable import PeripheralKit

/// What stays where it was, and what the program is told of the rest.
@Suite(.timeLimit(.minutes(1)))
struct DatabaseComparisonTests {
    private static func service(
        _ uuid: BluetoothUUID,
        _ characteristics: BluetoothUUID...,
        properties: CharacteristicProperties = .read,
        includes: [Int] = []
    ) -> ServiceDescription {
        ServiceDescription(
            uuid: uuid,
            includedServices: includes,
            characteristics: characteristics.map {
                CharacteristicDescription(uuid: $0, properties: properties)
            }
        )
    }

    /// What is on the air from 0x0020 on, without a gap.
    private static func published(_ services: ServiceDescription...) throws -> PreservedDatabase {
        let table = try AttributeTable(services: services)
        var starts: [Int: AttributeHandle] = [:]
        for index in services.indices {
            starts[index] = AttributeHandle(rawValue: table.serviceRange(index).lowerBound.rawValue + 0x1F)
        }
        return PreservedDatabase(table: table, startsOnAir: starts)
    }

    private func plan(
        _ services: ServiceDescription...,
        after old: PreservedDatabase
    ) throws -> (starts: [Int: AttributeHandle], changes: DeclarationChanges) {
        let table = try AttributeTable(services: services)
        let match = DatabaseMatch(of: table, with: old.table)
        let plan = HandlePlan(for: table, after: old, match)
        let new = PreservedDatabase(table: table, startsOnAir: plan.startsOnAir)
        return (plan.startsOnAir, DatabaseComparison(of: new, with: old, match).changes)
    }

    @Test func whatIsTheSameStays() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29, 0x2A24))
        let (starts, changes) = try plan(
            Self.service(0x180F, 0x2A19),
            Self.service(0x180A, 0x2A29, 0x2A24),
            after: old
        )
        #expect(starts == [0: 0x20, 1: 0x23])
        #expect(changes == DeclarationChanges())
    }

    @Test func theOrderOfServicesDoesNotMatter() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        let (starts, changes) = try plan(
            Self.service(0x180A, 0x2A29),
            Self.service(0x180F, 0x2A19),
            after: old
        )
        #expect(starts == [0: 0x23, 1: 0x20])
        #expect(changes == DeclarationChanges())
    }

    @Test func whatIsNewIsLeftToTheStack() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19))
        let (starts, changes) = try plan(
            Self.service(0x1810, 0x2A35),
            Self.service(0x180F, 0x2A19),
            after: old
        )
        #expect(starts == [1: 0x20])
        #expect(changes.added.map(\.description) == ["service 1810"])
        #expect(changes.removed.isEmpty && changes.changed.isEmpty && changes.moved.isEmpty)
        #expect(changes.invalidatesCaches)
    }

    @Test func aServiceThatHasGrownMovesWhenAnotherStandsBehindIt() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        let (starts, changes) = try plan(
            Self.service(0x180F, 0x2A19, 0x2A1A),
            Self.service(0x180A, 0x2A29),
            after: old
        )
        #expect(starts == [1: 0x23])
        #expect(changes.added.map(\.description) == ["characteristic 2a1a of service 180f"])
        #expect(changes.moved.map(\.description) == ["service 180f", "characteristic 2a19 of service 180f"])
        #expect(changes.invalidatesCaches)
    }

    @Test func aServiceThatHasGrownStaysWhereThereIsRoom() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        let (starts, changes) = try plan(
            Self.service(0x180F, 0x2A19),
            Self.service(0x180A, 0x2A29, 0x2A24),
            after: old
        )
        #expect(starts == [0: 0x20, 1: 0x23])
        #expect(changes.moved.isEmpty)
        #expect(changes.added.map(\.description) == ["characteristic 2a24 of service 180a"])
    }

    @Test func whatIsGoneIsTold() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19, 0x2A1A), Self.service(0x180A, 0x2A29))
        let (starts, changes) = try plan(Self.service(0x180F, 0x2A19), after: old)
        #expect(starts == [0: 0x20])
        #expect(
            changes.removed.map(\.description) == ["characteristic 2a1a of service 180f", "service 180a"]
        )
        #expect(changes.invalidatesCaches)
    }

    @Test func propertiesChangeWithoutAMove() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19))
        let (_, changes) = try plan(
            Self.service(0x180F, 0x2A19, properties: [.read, .write]),
            after: old
        )
        #expect(changes.changed.map(\.description) == ["characteristic 2a19 of service 180f"])
        #expect(changes.moved.isEmpty && changes.invalidatesCaches)
    }

    @Test func securityIsNothingThatCentralsKeep() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19))
        var service = Self.service(0x180F, 0x2A19)
        service.characteristics[0].security = .encrypted
        let (_, changes) = try plan(service, after: old)
        #expect(changes.changed.count == 1 && !changes.invalidatesCaches)
    }

    @Test func includedServicesAreComparedByWhatTheyAre() throws {
        let old = try Self.published(
            Self.service(0x180F, 0x2A19),
            Self.service(0x180A, 0x2A29, includes: [0])
        )
        let (_, same) = try plan(
            Self.service(0x180F, 0x2A19),
            Self.service(0x180A, 0x2A29, includes: [0]),
            after: old
        )
        #expect(same == DeclarationChanges())
        let (_, other) = try plan(
            Self.service(0x180F, 0x2A19),
            Self.service(0x180A, 0x2A29),
            after: old
        )
        #expect(other.changed.map(\.description) == ["service 180a"])
    }

    @Test func whatIsNotKnownCountsAsMoved() throws {
        var old = try Self.published(Self.service(0x180F, 0x2A19))
        old.startsOnAir = [:]
        let (starts, changes) = try plan(Self.service(0x180F, 0x2A19), after: old)
        #expect(starts.isEmpty)
        #expect(changes.moved.count == 2 && changes.invalidatesCaches)
    }
}
