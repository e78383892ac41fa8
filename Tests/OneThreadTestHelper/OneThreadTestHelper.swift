import Glibc
import PeripheralBlueZ
import PeripheralDBus
import PeripheralKit
import PeripheralOneThread

/// Programs on one thread, which tests start.
@main
struct OneThreadTestHelper {
    static func main() {
        let arguments = CommandLine.arguments
        // A program that hangs fails the test, and does not hold it up.
        alarm(45)
        OneThread.run {
            do {
                switch arguments.count > 1 ? arguments[1] : "" {
                case "tasks": try await doAllThatTasksDo()
                case "descriptors": try await asksForSignalsWithoutDescriptors()
                case "peripheral" where arguments.count == 3: try await runTwice(on: arguments[2])
                case "status": return 3
                default: return 64
                }
                return 0
            } catch {
                print(error)
                return 1
            }
        }
    }

    /// Is refused the signal that then ends it.
    private static func asksForSignalsWithoutDescriptors() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
        do {
            _ = try OneThread.arrivals(of: [SIGTERM])
            throw Mistake(description: "signals without a descriptor")
        } catch let error as SignalsError {
            guard error.description.hasSuffix(": Too many open files.") else { throw error }
        }
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        kill(getpid(), SIGTERM)
        try await Task.sleep(for: .seconds(100))
    }

    /// Is a peripheral until a central has told it to end, and then once more until a signal arrives.
    ///
    /// What a central reads is how many threads the process has.
    private static func runTwice(on bus: String) async throws {
        let signals = try OneThread.arrivals(of: [SIGTERM, SIGUSR1])
        let backend = BlueZBackend(bus: .address(bus))
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let peripheral = Peripheral("Threads") {
            GATTService("00002b00-7e3c-4b6e-9d29-b3f1c0a1d001") {
                Characteristic<UInt8>(.batteryLevel, [.read, .write]) {
                    Read { _ in UInt8(clamping: try threadCount()) }
                    Write { (_: UInt8, _) in end.yield() }
                }
            }
        }
        try await peripheral.run(on: backend) { _ in for await _ in ends { return } }
        try await peripheral.run(on: backend) { _ in
            for await signal in signals where signal == SIGTERM { return }
        }
    }
}

struct Mistake: Error, CustomStringConvertible {
    let description: String
}

/// The kilobytes of memory that the process has.
func residentKilobytes() throws -> Int {
    guard let file = fopen("/proc/self/smaps_rollup", "re") else {
        throw Mistake(description: "no smaps_rollup")
    }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ")
        if words.first == "Rss:", words.count > 1, let kilobytes = Int(words[1]) { return kilobytes }
    }
    throw Mistake(description: "no Rss in smaps_rollup")
}

func threadCount() throws -> Int {
    guard let directory = opendir("/proc/self/task") else { throw Mistake(description: "no /proc/self/task") }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
        // All entries but "." and ".." are numbers.
        if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
}
