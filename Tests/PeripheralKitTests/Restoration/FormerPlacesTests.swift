import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

/// Where services go while others come and go.
struct FormerPlacesTests {
    /// A table of places, as a backend keeps it.
    private struct Places {
        var former = FormerPlaces()
        var present: [AttributeHandle: FormerPlaces.Service] = [:]

        var occupied: [ClosedRange<AttributeHandle>] {
            present.map { $0...AttributeHandle(rawValue: $0.rawValue + UInt16($1.size - 1)) }
        }

        mutating func add(_ service: FormerPlaces.Service, mayFreeze: Bool = false) -> AttributeHandle? {
            let start = former.place(for: service, besides: occupied, mayFreezeDatabaseHash: mayFreeze)
            guard let start else { return nil }
            former.taken(start...AttributeHandle(rawValue: start.rawValue + UInt16(service.size - 1)))
            present[start] = service
            return start
        }

        mutating func remove(at start: AttributeHandle) {
            if let service = present.removeValue(forKey: start) { former.removed(service, from: start) }
        }
    }

    /// A service with so many handles.
    private func service(_ number: UInt16, size: Int, identity: DeclarationIdentity? = nil)
        -> FormerPlaces.Service
    {
        let descriptors = Array(repeating: DescriptorDescription(uuid: 0x2901), count: max(size - 3, 0))
        let characteristic = CharacteristicDescription(
            uuid: 0x2A19,
            properties: .read,
            descriptors: descriptors
        )
        return FormerPlaces.Service(
            identity: identity,
            ServiceDescription(uuid: BluetoothUUID(number), characteristics: size > 2 ? [characteristic] : [])
        )
    }

    @Test func newServicesTakeTheLowestUnusedPlace() {
        var places = Places()
        #expect(places.add(service(1, size: 4)) == 0x0100)
        #expect(places.add(service(2, size: 4)) == 0x0104)
        places.remove(at: 0x0100)
        #expect(places.add(service(3, size: 4)) == 0x0108, "the place of a removed service is known")
    }

    @Test func aServiceReturnsToItsPlace() {
        var places = Places()
        for number in 1...3 as ClosedRange<UInt16> { _ = places.add(service(number, size: 4)) }
        places.remove(at: 0x0104)
        #expect(places.add(service(2, size: 6)) == 0x010C, "it has changed")
        places.remove(at: 0x010C)
        #expect(places.add(service(2, size: 4)) == 0x0104)
    }

    @Test func equalServicesReturnToTheirOwnPlaces() {
        var places = Places()
        let (first, second) = (DeclarationIdentity(), DeclarationIdentity())
        _ = places.add(service(1, size: 4, identity: first))
        _ = places.add(service(1, size: 4, identity: second))
        places.remove(at: 0x0100)
        places.remove(at: 0x0104)
        #expect(places.add(service(1, size: 4, identity: second)) == 0x0104)
        #expect(places.add(service(1, size: 4, identity: first)) == 0x0100)
    }

    @Test func servicesWithOtherConstantsAreNotEqual() {
        var places = Places()
        var kitchen = service(1, size: 4)
        kitchen.constants = [nil, nil, [1], nil]
        _ = places.add(kitchen)
        places.remove(at: 0x0100)
        #expect(places.add(service(1, size: 4)) == 0x0104)
        #expect(places.add(kitchen) == 0x0100)
    }

    @Test func thePlaceOfTheFirstRemovedIsUsedFirst() {
        var places = Places()
        for number in 0..<0x30 as Range<UInt16> { _ = places.add(service(number, size: 16)) }
        #expect(places.add(service(0x100, size: 1)) == nil)
        places.remove(at: 0x0300)
        places.remove(at: 0x0200)
        #expect(places.add(service(0x100, size: 8)) == 0x0300)
        #expect(places.add(service(0x101, size: 8)) == 0x0308, "the rest of the place is unused now")
        #expect(places.add(service(0x102, size: 16)) == 0x0200)
        #expect(places.add(service(0x103, size: 1)) == nil)
        #expect(places.add(service(0x103, size: 1), mayFreeze: true) == 0x0400)
    }

    @Test func neighborsMakeRoomTogether() {
        var places = Places()
        for number in 0..<0x30 as Range<UInt16> { _ = places.add(service(number, size: 16)) }
        places.remove(at: 0x0110)
        places.remove(at: 0x0300)
        places.remove(at: 0x0120)
        #expect(places.add(service(0x100, size: 32)) == 0x0110)
        #expect(places.add(service(0x20, size: 16)) == 0x0300, "the other place is still known")
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomChangesKeepTheRules(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var places = Places()
        var starts: [UInt16: AttributeHandle] = [:]
        for _ in 0..<1_000 {
            let number = UInt16.random(in: 0..<30, using: &random)
            if let start = starts.removeValue(forKey: number) {
                places.remove(at: start)
            } else {
                let size = 3 + Int(number) % 22
                let others = places.occupied
                let added = places.add(service(number, size: size))
                let start = try #require(added)
                let handles = start...AttributeHandle(rawValue: start.rawValue + UInt16(size - 1))
                #expect(Int(start.rawValue) >= FormerPlaces.first)
                #expect(Int(handles.upperBound.rawValue) < FormerPlaces.endOfHash)
                #expect(!others.contains(where: handles.overlaps))
                starts[number] = start
            }
        }
    }
}
