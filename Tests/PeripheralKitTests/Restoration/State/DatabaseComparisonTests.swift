import PeripheralCore
import Testing

@testable import PeripheralKit

/// Unchanged services keep their handles; the program learns of the other changes.
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

    /// What is on the air after its first publication.
    private static func placed(_ services: ServiceDescription...) throws -> PreservedDatabase {
        let table = try AttributeTable(services: services)
        return PreservedDatabase(
            table: table,
            startsOnAir: HandlePlan(for: table, after: nil, DatabaseMatch()).startsOnAir
        )
    }

    private func plan(
        _ services: ServiceDescription...,
        after old: PreservedDatabase
    ) throws -> (starts: [Int: AttributeHandle], changes: DeclarationChanges) {
        let declared = try AttributeTable(services: services)
        let order = AttributeOrder(of: declared, after: old.table)
        let table = try AttributeTable(services: order.arrange(declared.services))
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

    @Test func aFirstPublicationLeavesGaps() throws {
        let old = try Self.placed(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        #expect(old.startsOnAir == [0: 0x100, 1: 0x123])
    }

    @Test func gapsAreSmallerWhereTheyWouldSpoilTheDatabaseHash() throws {
        let services = (0x1900..<0x191E as Range<UInt16>).map { Self.service(BluetoothUUID($0), 0x2A19) }
        let table = try AttributeTable(services: services)
        let starts = HandlePlan(for: table, after: nil, DatabaseMatch()).startsOnAir
        #expect(starts[1] == 0x113 && starts[29] == 0x327)
    }

    @Test func aFirstPublicationLeavesRoomForWhatIsPinned() throws {
        var pinned = Self.service(0x180F, 0x2A19)
        pinned.handle = 0x120
        let old = try Self.placed(Self.service(0x180A, 0x2A29), pinned, Self.service(0x1810, 0x2A35))
        // Neither before it, where it could not grow, nor at once behind.
        #expect(old.startsOnAir == [0: 0x143, 1: 0x120, 2: 0x166])
    }

    @Test func aServiceGrowsIntoItsGap() throws {
        let old = try Self.placed(
            Self.service(0x180F, 0x2A19, 0x2A1B),
            Self.service(0x180A, 0x2A29, 0x2A24),
            Self.service(0x1810, 0x2A35)
        )
        let (starts, changes) = try plan(
            Self.service(0x180F, 0x2A19, 0x2A1B),
            Self.service(0x180A, 0x2A26, 0x2A29, 0x2A25, 0x2A24),
            Self.service(0x1810, 0x2A35),
            after: old
        )
        #expect(starts == old.startsOnAir)
        #expect(changes.moved.isEmpty && changes.changed.isEmpty && changes.invalidatesCaches)
        #expect(
            changes.added.map(\.description) == [
                "characteristic 2a26 of service 180a", "characteristic 2a25 of service 180a",
            ]
        )
    }

    @Test func aDescriptorIsAddedBehindThoseThatAreThere() throws {
        var service = Self.service(0x180F, 0x2A19)
        service.characteristics[0].descriptors = [DescriptorDescription(uuid: 0x2906)]
        let old = try Self.placed(service)
        service.characteristics[0].descriptors.insert(DescriptorDescription(uuid: 0x2901), at: 0)
        let declared = try AttributeTable(services: [service])
        let order = AttributeOrder(of: declared, after: old.table)
        let arranged = order.arrange(declared.services)
        #expect(arranged[0].characteristics[0].descriptors.map(\.uuid) == [0x2906, 0x2901])
        // Of several formats, the first describes the first part of the value.
        service.characteristics[0].descriptors = [0x2904, 0x2906, 0x2904].map {
            DescriptorDescription(uuid: $0)
        }
        let formats = try AttributeTable(services: [service])
        let kept = AttributeOrder(of: formats, after: old.table).arrange(formats.services)
        #expect(kept[0].characteristics[0].descriptors.map(\.uuid) == [0x2904, 0x2906, 0x2904])
    }

    @Test func beyondItsGapAServiceGoesBehindAllOthersWithANewOne() throws {
        let old = try Self.placed(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        var grown = Self.service(0x180F, 0x2A19)
        for number in 0x2B00..<0x2B11 as Range<UInt16> {
            grown.characteristics.append(
                CharacteristicDescription(uuid: BluetoothUUID(number), properties: .read)
            )
        }
        let (starts, changes) = try plan(grown, Self.service(0x180A, 0x2A29), after: old)
        #expect(starts == [0: 0x146, 1: 0x123])
        #expect(changes.moved.map(\.description) == ["service 180f", "characteristic 2a19 of service 180f"])
    }

    @Test func aNewServiceGoesBehindAlsoWhatIsGone() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        let far = PreservedDatabase(table: old.table, startsOnAir: [0: 0x100, 1: 0x200])
        let (starts, _) = try plan(
            Self.service(0x1810, 0x2A35),
            Self.service(0x180F, 0x2A19),
            after: far
        )
        #expect(starts == [0: 0x223, 1: 0x100])
    }

    @Test func whatIsNewGoesBehind() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19))
        let (starts, changes) = try plan(
            Self.service(0x1810, 0x2A35),
            Self.service(0x180F, 0x2A19),
            after: old
        )
        #expect(starts == [0: 0x100, 1: 0x20])
        #expect(changes.added.map(\.description) == ["service 1810"])
        #expect(changes.removed.isEmpty && changes.changed.isEmpty && changes.moved.isEmpty)
        #expect(changes.invalidatesCaches)
    }

    @Test func aServiceThatHasGrownMovesWhenAnotherStandsAtOnceBehindIt() throws {
        let old = try Self.published(Self.service(0x180F, 0x2A19), Self.service(0x180A, 0x2A29))
        let (starts, changes) = try plan(
            Self.service(0x180F, 0x2A19, 0x2A1A),
            Self.service(0x180A, 0x2A29),
            after: old
        )
        #expect(starts == [0: 0x100, 1: 0x23])
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
        #expect(starts == [0: 0x100])
        #expect(changes.moved.count == 2 && changes.invalidatesCaches)
    }
}
