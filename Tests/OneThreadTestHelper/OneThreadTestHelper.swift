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
        if arguments.last == "forked" { giveBackMemoryBesideAChild() }
        OneThread.run {
            do {
                switch arguments.count > 1 ? arguments[1] : "" {
                case "tasks": try await doAllThatTasksDo()
                case "descriptors": try await asksForSignalsWithoutDescriptors()
                case "peripheral" where arguments.count == 3: try await runTwice(on: arguments[2])
                case "stops" where arguments.count == 3:
                    try await StoppedPeripheral.run(on: BlueZBackend(bus: .address(arguments[2])))
                    #if compiler(>=6.3)
                        guard try threadCount() == 1 else { throw Mistake(description: "another thread") }
                    #endif
                case "runs" where arguments.count == 4:
                    try await run(Int(arguments[3]) ?? 10, on: arguments[2])
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

    /// Gives its memory back while a child that has not called exec shares it, such as a worker of a library.
    private static func giveBackMemoryBesideAChild() -> Never {
        // Swift's backtracer would run into the same fault again and again, and never end the process.
        signal(SIGSEGV, SIG_DFL)
        var pipe: [CInt] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else { exit(2) }
        switch fork() {
        case -1: exit(2)
        case 0:
            // The end of the program ends the child, whatever it is.
            close(pipe[1])
            var byte: UInt8 = 0
            _exit(CInt(read(pipe[0], &byte, 1)))
        default:
            StartPages.giveBack()
            // These need what the linker wrote when the program started.
            print("still here", CommandLine.arguments)
            exit(0)
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
            guard error.description.hasSuffix(": Too many open files. Raise the limit of open files.") else {
                throw error
            }
        }
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        kill(getpid(), SIGTERM)
        try await Task.sleep(for: .seconds(100))
    }

    /// Runs a peripheral until a central writes, and then again until SIGTERM arrives.
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

    /// Runs a peripheral again and again, each time until a central has come and gone.
    ///
    /// - Throws: When the process has more after all runs than after the tenth.
    private static func run(_ count: Int, on bus: String) async throws {
        alarm(CUnsignedInt(45 + count))
        let backend = BlueZBackend(bus: .address(bus))
        let peripheral = Peripheral("Threads") {
            GATTService("00002b00-7e3c-4b6e-9d29-b3f1c0a1d001") {
                Characteristic<UInt8>(.batteryLevel, .read) { Read { 99 } }
            }
        }
        var early: (descriptors: Int, kilobytes: Int)?
        for number in 1...count {
            try await peripheral.run(on: backend) { session in
                var events = session.events.makeAsyncIterator()
                while session.centrals.isEmpty { _ = try await events.next() }
                while !session.centrals.isEmpty { _ = try await events.next() }
            }
            guard number == 10 || number == count else { continue }
            giveBackFreedMemory()
            let usage = try (descriptors: entryCount("/proc/self/fd"), kilobytes: kilobytes(of: "Anonymous:"))
            print("after \(number) runs: \(usage)")
            if let early,
                usage.descriptors > early.descriptors || usage.kilobytes > early.kilobytes + 256
            {
                throw Mistake(description: "\(count) runs have left something.")
            }
            early = early ?? usage
        }
    }
}

/// Has `malloc` give back what is free in the middle of its heap, so that only what is in use counts.
private func giveBackFreedMemory() {
    // <malloc.h> is not part of the module Glibc.
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
}

struct Mistake: Error, CustomStringConvertible {
    let description: String
}

/// The kilobytes of memory that the process has of a kind, such as `Rss:`.
func kilobytes(of kind: String) throws -> Int {
    guard let file = fopen("/proc/self/smaps_rollup", "re") else {
        throw Mistake(description: "no smaps_rollup")
    }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: " ")
        if words.first == Substring(kind), words.count > 1, let kilobytes = Int(words[1]) { return kilobytes }
    }
    throw Mistake(description: "no \(kind) in smaps_rollup")
}

func threadCount() throws -> Int { try entryCount("/proc/self/task") }

/// How many entries a directory has whose names are numbers.
func entryCount(_ path: String) throws -> Int {
    guard let directory = opendir(path) else { throw Mistake(description: "no \(path)") }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
        // All entries but "." and ".." are numbers.
        if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
}
