import Glibc
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Programs all of whose tasks run on one thread; before Swift 6.3, all that can.
@Suite(.timeLimit(.minutes(1)))
struct OneThreadTests {
    private let helper = "one-thread-test-helper"

    @Test func doesAllThatTasksDo() throws {
        #expect(try HelperProcess(helper, "tasks").exitStatus() == 0)
    }

    @Test func endsWithTheStatusOfTheProgram() throws {
        #expect(try HelperProcess(helper, "status").exitStatus() == 3)
    }

    @Test func keepsWhatAForkedChildShares() throws {
        #expect(try HelperProcess(helper, "forked").exitStatus() == 0)
    }

    @Test func saysThatThereAreNoDescriptorsForSignals() throws {
        #expect(try HelperProcess(helper, "descriptors").exitStatus() == -SIGTERM)
    }

    /// A peripheral that runs again, after its end, on the same thread; and what a signal does.
    @Test func runsAPeripheral() async throws {
        let level = Characteristic<UInt8>(.batteryLevel, [.read, .write]) {
            Read { _ in 0 }
            Write { (_: UInt8, _) in }
        }
        let twin = Peripheral("Threads") { GATTService("00002b00-7e3c-4b6e-9d29-b3f1c0a1d001") { level } }
        try await withEmulatedBlueZ { bluez in
            let process = try HelperProcess(helper, "peripheral", bluez.busAddress)
            for isLast in [false, true] {
                let central = bluez.central(for: twin, patience: .seconds(20))
                try await central.connect()
                // The first run may still be ending. Its services are then gone, or refuse the request.
                var threads: UInt8?
                try await until {
                    _ = try? await central.discover()
                    threads = try? await central.read(level)
                    return threads != nil
                }
                #expect((threads == 1) == runsOnOneThread)
                if !isLast { try await central.write(level, 0) }
                process.signal(isLast ? SIGTERM : SIGUSR1)
                central.disconnect()
            }
            #expect(process.exitStatus() == 0)
        }
    }
}

/// Before Swift 6.3, a program cannot choose where its tasks run.
private var runsOnOneThread: Bool {
    #if compiler(>=6.3)
        true
    #else
        false
    #endif
}
