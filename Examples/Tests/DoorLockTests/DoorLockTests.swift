import PeripheralKit
import PeripheralTesting
import Synchronization
import Testing

@testable import door_lock

@Suite(.timeLimit(.minutes(1)))
struct DoorLockTests {
    @Test func theDoorAndItsAuditGoOnWhereTheyWere() async throws {
        let door = Door { _ in
        } onRestore: { _ in
        }
        let (backend, store) = (InMemoryBackend(), InMemoryRestorationStore())
        let phone = try await door.peripheral.run(on: backend, restoringFrom: store) { session in
            let phone = backend.makeCentral(of: door.peripheral)
            try await phone.connect()
            try await untilPaired(phone)
            try await phone.subscribe(to: door.audit)
            phone.disconnect()
            try await session.set(door.isLocked, to: false)
            try await session.notify(door.audit, "unlocked by hand")
            return phone
        }
        try await door.peripheral.run(on: backend, restoringFrom: store) { session in
            #expect(
                session.restored?.summary.first
                    == "the state of Door is restored; phones find the services where they were"
            )
            try await phone.connect()
            #expect(try await phone.read(door.isLocked) == false)
            try await phone.subscribe(to: door.audit)
            #expect(try await phone.nextUpdate(of: door.audit) == "unlocked by hand")
        }
    }

    /// The program may be killed as soon as a phone has got the response that the door is open.
    @Test func whatAPhoneWasToldIsInTheAudit() async throws {
        let door = Door { _ in
        } onRestore: { _ in
        }
        let (backend, store) = (InMemoryBackend(), InMemoryRestorationStore())
        let (phone, left) = try await door.peripheral.run(on: backend, restoringFrom: store) { session in
            let phone = backend.makeCentral(of: door.peripheral)
            try await phone.connect()
            try await untilPaired(phone)
            try await phone.subscribe(to: door.audit)
            try await phone.write(door.admit, 1)
            let events = session.events
            phone.disconnect()
            for await event in events { if case .disconnected = event { break } }
            let other = phone.makeAnother()
            try await other.connect()
            try await other.pair(.justWorks)
            try await other.write(door.isLocked, false)
            return (phone, store.snapshot())
        }
        try await door.peripheral.run(on: backend, restoringFrom: left) { session in
            #expect(try session.value(of: door.isLocked) == false)
            try await phone.connect()
            try await phone.subscribe(to: door.audit)
            #expect(try await phone.nextUpdate(of: door.audit).hasPrefix("unlocked by "))
        }
    }

    /// The program may be killed after the bolt has moved and before the state is saved.
    @Test func theBoltFollowsWhatIsPreserved() async throws {
        final class Bolt: Sendable {
            let moves = Mutex<[Bool]>([])
        }
        let bolt = Bolt()
        let door = Door { isLocked in
            bolt.moves.withLock { $0.append(isLocked) }
        } onRestore: { _ in
        }
        let (backend, store) = (InMemoryBackend(), InMemoryRestorationStore())
        let left = try await door.peripheral.run(on: backend, restoringFrom: store) { session in
            try await session.preserve()
            let left = store.snapshot()
            let phone = backend.makeCentral(of: door.peripheral)
            try await phone.connect()
            try await untilPaired(phone)
            try await phone.write(door.isLocked, false)
            return left
        }
        #expect(bolt.moves.withLock(\.self) == [false])
        try await door.peripheral.run(on: backend, restoringFrom: left) { session in
            let isLocked = try session.value(of: door.isLocked)
            #expect(isLocked)
            #expect(bolt.moves.withLock(\.self) == [false, true])
        }
    }

    @Test func aBoltThatIsStuckRefusesTheWrite() async throws {
        struct Stuck: Error {}
        let door = Door { _ in
            throw Stuck()
        } onRestore: { _ in
        }
        try await door.peripheral.test { phone, session in
            try await untilPaired(phone)
            await #expect(throws: ATTError.unlikelyError) { try await phone.write(door.isLocked, false) }
            #expect(try session.value(of: door.isLocked))
        }
    }

    @Test func anotherPhoneCanPairAtTheStartOnRequest() async throws {
        let door = Door { _ in
        } onRestore: { _ in
        }
        let (backend, store) = (InMemoryBackend(), InMemoryRestorationStore())
        try await door.peripheral.run(on: backend, restoringFrom: store) { _ in
            let phone = backend.makeCentral(of: door.peripheral)
            try await phone.connect()
            try await untilPaired(phone)
            phone.disconnect()
        }
        let again = Door(admitsAtStart: true, moveBolt: door.moveBolt, onRestore: door.onRestore)
        try await again.peripheral.run(on: backend, restoringFrom: store) { _ in
            let other = backend.makeCentral(of: again.peripheral)
            try await other.connect()
            try await untilPaired(other)
            try await other.write(again.isLocked, false)
        }
    }

    @Test func onlyAPairedPhoneAdmitsAnother() async throws {
        let door = Door { _ in
        } onRestore: { _ in
        }
        let (backend, store) = (InMemoryBackend(), InMemoryRestorationStore())
        let phone = try await door.peripheral.run(on: backend, restoringFrom: store) { _ in
            let phone = backend.makeCentral(of: door.peripheral)
            try await phone.connect()
            try await untilPaired(phone)
            phone.disconnect()
            return phone
        }
        try await door.peripheral.run(on: backend, restoringFrom: store) { session in
            let other = phone.makeAnother()
            try await other.connect()
            await #expect(throws: TestCentralError.self) { try await other.pair(.justWorks) }
            await #expect(throws: ATTError.insufficientEncryption) { try await other.write(door.admit, 1) }
            #expect(!session.isPairingAllowed)
            try await phone.connect()
            try await phone.write(door.admit, 1)
            try await other.pair(.justWorks)
            #expect(try await other.read(door.isLocked))
        }
    }

    /// Pairs a phone as soon as the door lets the first phone pair.
    private func untilPaired(_ phone: VirtualCentral) async throws {
        while true {
            do {
                return try await phone.pair(.justWorks)
            } catch let error as TestCentralError where error.code == .pairingFailed {
                await Task.yield()
            }
        }
    }
}
