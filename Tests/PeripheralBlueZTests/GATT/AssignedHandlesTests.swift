import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

/// Where services go when bluetoothd has no room for one of them where it is demanded.
@Suite(.timeLimit(.minutes(1)))
struct AssignedHandlesTests {
    /// Three services of three handles each.
    private let table: AttributeTable

    init() throws {
        let characteristic = CharacteristicDescription(uuid: 0x2A19, properties: .read)
        table = try AttributeTable(
            services: [0x1810, 0x1811, 0x1812].map {
                ServiceDescription(uuid: $0, characteristics: [characteristic])
            }
        )
    }

    private func handles(
        at starts: [AttributeHandle],
        newServices: Set<Int> = []
    ) -> AssignedHandles {
        var preserved: [AttributeHandle: AttributeHandle] = [:]
        for (service, start) in starts.enumerated() {
            preserved[table.serviceRange(service).lowerBound] = start
            preserved[table.valueHandle(service: service, characteristic: 0)] = AttributeHandle(
                rawValue: start.rawValue + 2
            )
        }
        let handles = AssignedHandles(
            for: BackendServices(table: table, preservedHandles: preserved, newServices: newServices)
        )
        handles.pin()
        handles.begin()
        return handles
    }

    private func starts(_ handles: AssignedHandles) -> [AttributeHandle?] {
        (0..<3).map { handles[table.serviceRange($0).lowerBound] }
    }

    /// bluetoothd takes the services before this one.
    private func take(before refused: Int, _ handles: AssignedHandles) {
        for service in 0..<refused {
            let value = table.valueHandle(service: service, characteristic: 0)
            if let onAir = handles[value] { #expect(!handles.assign(onAir, to: value)) }
        }
    }

    @Test func onlyTheServiceThatIsRefusedGoesElsewhere() {
        let handles = handles(at: [0x100, 0x123, 0x146])
        take(before: 1, handles)
        #expect(handles.yield(reportsHandles: true))
        #expect(starts(handles) == [0x100, 0x170, 0x146])
        #expect(handles[table.valueHandle(service: 1, characteristic: 0)] == 0x172)
        // There is something as well.
        take(before: 1, handles)
        #expect(handles.yield(reportsHandles: true))
        #expect(starts(handles) == [0x100, 0x1A0, 0x146])
    }

    @Test func whatIsNewStaysTogether() {
        let handles = handles(at: [0x100, 0x123, 0x146], newServices: [0, 1, 2])
        take(before: 1, handles)
        #expect(handles.yield(reportsHandles: true))
        #expect(starts(handles) == [0x150, 0x180, 0x1B0])
    }

    @Test func allGoWhereNobodyKnowsWhichIsRefused() {
        let handles = handles(at: [0x100, 0x123, 0x146])
        #expect(handles.yield(reportsHandles: false))
        #expect(starts(handles) == [0x170, 0x1A0, 0x1D0])
    }

    @Test func inTheEndBluetoothdChooses() {
        let handles = handles(at: [0x100, 0x123, 0x146])
        var attempts = 0
        while handles.yield(reportsHandles: true) { attempts += 1 }
        #expect(attempts == 9)
        #expect(starts(handles) == [nil, nil, nil])
    }

    @Test func whatWasDemandedIsDemandedAgainWhenNothingHelps() {
        let handles = handles(at: [0x100, 0x123, 0x146])
        while handles.yield(reportsHandles: true) { take(before: 1, handles) }
        _ = handles.assign(0x300, to: table.serviceRange(0).lowerBound)
        handles.fail()
        #expect(starts(handles) == [0x100, 0x123, 0x146])
        #expect(handles.onAir(table.serviceRange(0).lowerBound) == 0x100)
    }

    @Test func whatHasSucceededIsTold() {
        let handles = handles(at: [0x100, 0x123])
        take(before: 2, handles)
        _ = handles.assign(0x126, to: table.serviceRange(2).lowerBound)
        #expect(handles.succeed().map(\.onAir) == [0x100, 0x102, 0x123, 0x125, 0x126])
        // From now on it counts at once.
        #expect(handles.assign(0x128, to: table.valueHandle(service: 2, characteristic: 0)))
    }

    @Test func whatIsOnTheAirIsNotNewAnyMore() {
        let handles = handles(at: [0x100, 0x123, 0x146], newServices: [0, 1, 2])
        _ = handles.succeed()
        handles.begin()
        take(before: 2, handles)
        #expect(handles.yield(reportsHandles: true))
        #expect(starts(handles) == [0x100, 0x123, 0x170])
    }

    @Test func whatIsInABlockOfAnotherProgramGoesElsewhere() {
        let handles = handles(at: [0x100, 0x104, 0x146])
        #expect(handles.yield([HandleBlock(of: 0x100)]))
        // Not into the room of the one that stays.
        #expect(starts(handles) == [0x170, 0x1A0, 0x146])
        #expect(handles.demanded == [0x170...0x172, 0x1A0...0x1A2, 0x146...0x148])
    }

    @Test func gapsAreSmallerBeforeTheDatabaseHashIsGivenUp() {
        let handles = handles(at: [0x3A0, 0x3C0, 0x3F0])
        let others = (0x10...0x3C).map { HandleBlock(of: AttributeHandle(rawValue: UInt16($0) << 4)) }
        #expect(handles.yield(Set(others)))
        #expect(starts(handles) == [0x3D0, 0x3E0, 0x3F0])
        #expect(handles.yield([HandleBlock(of: 0x3D0)]))
        #expect(starts(handles) == [0x420, 0x450, 0x3F0])
    }

    @Test func whatStandsWhereTheClaimsAreMovesAtOnce() {
        let handles = handles(at: [0x00BE, 0x00FF, 0x0123])
        #expect(starts(handles) == [0x0100, 0x0150, 0x0123])
    }

    @Test func whatTheProgramHasPinnedStays() throws {
        let table = try AttributeTable(services: [ServiceDescription(uuid: 0x1810, handle: 0x0100)])
        let handles = AssignedHandles(
            for: BackendServices(table: table, preservedHandles: [:], newServices: [])
        )
        handles.pin()
        handles.begin()
        #expect(handles.demanded == [0x0100...0x0100])
        #expect(handles.pinnedService(in: [HandleBlock(of: 0x0110)]) == nil)
        #expect(handles.pinnedService(in: [HandleBlock(of: 0x0100)])?.uuid == 0x1810)
        #expect(!handles.yield([HandleBlock(of: 0x0100)]))
    }
}
