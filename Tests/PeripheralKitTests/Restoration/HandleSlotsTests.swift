import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

/// Where services go while others come and go.
struct HandleSlotsTests {
    private func service(_ number: UInt16) -> ServiceDescription {
        ServiceDescription(uuid: BluetoothUUID(number), isPrimary: true)
    }

    @Test func newServicesTakeTheLowestUnusedPlace() throws {
        var slots = HandleSlots()
        #expect(try slots.place(service(1), size: 4) == 0x0100)
        #expect(try slots.place(service(2), size: 4) == 0x0104)
        slots.remove(at: 0x0100)
        #expect(try slots.place(service(3), size: 4) == 0x0108, "the place of a removed service is known")
        #expect(slots.occupied == [0x0104...0x0107, 0x0108...0x010B])
    }

    @Test func aServiceReturnsToItsPlace() throws {
        var slots = HandleSlots()
        for number in 1...3 as ClosedRange<UInt16> { _ = try slots.place(service(number), size: 4) }
        slots.remove(at: 0x0104)
        #expect(try slots.place(service(2), size: 6) == 0x010C, "it has changed")
        slots.remove(at: 0x010C)
        #expect(try slots.place(service(2), size: 4) == 0x0104)
    }

    @Test func thePlaceOfTheFirstRemovedIsUsedFirst() throws {
        var slots = HandleSlots()
        for number in 0..<0x30 as Range<UInt16> { _ = try slots.place(service(number), size: 16) }
        #expect(throws: HandleSlots.Full()) { try slots.place(service(0x100), size: 1) }
        slots.remove(at: 0x0300)
        slots.remove(at: 0x0200)
        #expect(try slots.place(service(0x100), size: 8) == 0x0300)
        #expect(try slots.place(service(0x101), size: 8) == 0x0308, "the rest of the place is unused now")
        #expect(try slots.place(service(0x102), size: 16) == 0x0200)
        #expect(throws: HandleSlots.Full()) { try slots.place(service(0x103), size: 1) }
        #expect(try slots.place(service(0x103), size: 1, allowsFrozenHash: true) == 0x0400)
    }

    @Test func neighborsMakeRoomTogether() throws {
        var slots = HandleSlots()
        for number in 0..<0x30 as Range<UInt16> { _ = try slots.place(service(number), size: 16) }
        slots.remove(at: 0x0110)
        slots.remove(at: 0x0300)
        slots.remove(at: 0x0120)
        #expect(try slots.place(service(0x100), size: 32) == 0x0110)
        #expect(try slots.place(service(0x20), size: 16) == 0x0300, "the other place is still known")
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomChangesKeepTheRules(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var slots = HandleSlots()
        var present: [UInt16: (start: Int, size: Int)] = [:]
        for _ in 0..<1_000 {
            let number = UInt16.random(in: 0..<30, using: &random)
            if let place = present.removeValue(forKey: number) {
                slots.remove(at: place.start)
            } else {
                let size = 1 + Int(number) % 24
                let start = try slots.place(service(number), size: size)
                #expect(start >= HandleSlots.first && start + size <= HandleSlots.endOfHash)
                #expect(!present.values.contains { $0.start < start + size && start < $0.start + $0.size })
                present[number] = (start, size)
            }
            #expect(
                slots.occupied
                    == present.values.map { $0.start...$0.start + $0.size - 1 }
                    .sorted { $0.lowerBound < $1.lowerBound }
            )
        }
    }
}
