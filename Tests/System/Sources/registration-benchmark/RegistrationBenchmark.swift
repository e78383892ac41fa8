import CRegistration
import Glibc
import OwnThread
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit

/// Compares the time until an added service is on the air with the time that a plain C program needs.
///
/// The C program declares the same service with the same properties, and measures from RegisterApplication to
/// its reply. Another C program leaves out the handles, so bluetoothd does not report them. All use the same
/// bluetoothd in turn. The argument is the number of rounds (30). With the word `derived`, the advertisement
/// names the added service, and changes with it.
@main
struct RegistrationBenchmark {
    private static let characteristics = 20
    /// The greatest ratio of the medians.
    private static let goal = 2.0

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let rounds = words.lazy.compactMap { Int($0) }.first ?? 30
        let gateway = Peripheral("Gateway", reservedHandles: 128) {
            GATTService("c0f000d1-7e3c-4b6e-9d29-b3f1c0a1d001") {
                Characteristic<UInt8>("c0f000d2-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .notify]) {
                    Read { 0 }
                }
            }
            // The C program does not advertise.
            if !words.contains("derived") { Advertisement(services: []) }
        }
        let isFast = try await gateway.run(on: .bluez(recovery: .never)) { session in
            try await compare(session, rounds: max(rounds, 1))
        }
        print(isFast ? "1 passed, 0 failed" : "0 passed, 1 failed")
        exit(isFast ? 0 : 1)
    }

    /// Returns whether the median of the added service is at most twice that of the same C program.
    private static func compare(_ session: PeripheralSession, rounds: Int) async throws -> Bool {
        let values = (1...characteristics).map { number in
            // The C program has the same types.
            Characteristic<UInt8>(type(number), [.read, .notify]) { Read { 7 } }
        }
        let service = GATTService(type(0)) { values }
        let programs = await OwnThread.run {
            [true, false].map { UInt(bitPattern: registration_open(Int32(characteristics), $0)) }
        }
        var (added, registered): ([Double], [[Double]]) = ([], [[], []])
        for _ in 0..<rounds {
            for (index, program) in programs.enumerated() {
                let time = await OwnThread.run {
                    OpaquePointer(bitPattern: program).map { registration_time($0) } ?? -1
                }
                guard time >= 0 else {
                    print("The C program has no connection to the bus, or bluetoothd has refused it.")
                    return false
                }
                registered[index].append(Double(time) / 1e6)
            }
            let start = ContinuousClock.now
            try await session.add { service }
            added.append((ContinuousClock.now - start) / .milliseconds(1))
            try await session.remove(service)
        }
        let ratios = registered.map { median(added) / median($0) }
        print(
            "\(ratios[0] <= goal ? "ok   " : "FAIL ") a service with \(characteristics) characteristics, "
                + "\(rounds) times: \(text(added)) added, \(text(registered[0])) by the same C program, "
                + "ratio \(rounded(ratios[0]))"
        )
        print("      without handles: \(text(registered[1])), ratio \(rounded(ratios[1]))")
        return ratios[0] <= goal
    }

    private static func type(_ number: Int) -> BluetoothUUID {
        let digits = String(number, radix: 16)
        let padded = String(repeating: "0", count: 4 - digits.count) + digits
        return BluetoothUUID("5c3a\(padded)-7e3c-4b6e-9d29-b3f1c0a1d002") ?? 0x2A6E
    }

    private static func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

    private static func text(_ times: [Double]) -> String {
        let (least, greatest) = (rounded(times.min() ?? 0), rounded(times.max() ?? 0))
        return "\(rounded(median(times))) ms (\(least) to \(greatest))"
    }
}
