import Glibc
import PeripheralBlueZ
import PeripheralKit

/// Compares what it costs to save and to load the state of a large peripheral with a plain write of the same
/// bytes, which is flushed to the disk as well.
///
///     storage-benchmark [rounds] [a directory on the disk to measure]
@main
struct StorageBenchmark {
    static let goal = Duration.milliseconds(20)

    static func main() async throws {
        let arguments = CommandLine.arguments
        let rounds = arguments.count > 1 ? Int(arguments[1]) ?? 40 : 40
        var template = Array(
            "\(arguments.count > 2 ? arguments[2] : "/var/tmp")/storage-benchmark-XXXXXX".utf8CString
        )
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else {
            fatalError("\(String(cString: strerror(errno)))")
        }

        let document = document(characteristics: 2_000, subscribers: 50)
        let record = try await StateDirectory(path: path).open("benchmark")
        try await record.save(document)
        let bytes = saved(in: path)
        var (plain, saves, loads): ([Duration], [Duration], [Duration]) = ([], [], [])
        for _ in 0..<rounds {
            plain.append(ContinuousClock().measure { write(bytes, to: "\(path)/plain") })
            saves.append(try await ContinuousClock().measure { try await record.save(document) })
            loads.append(try await ContinuousClock().measure { _ = try await record.load() })
        }
        let (written, saved, loaded) = (median(plain), median(saves), median(loads))
        print(
            "\(document.groups.reduce(0) { $0 + $1.entries.count }) keys, \(bytes.count) bytes; medians of \(rounds):"
        )
        print("written plainly: \(written)")
        print("saved:           \(saved), \(saved / written) times that")
        print("loaded:          \(loaded), \(loaded / written) times that")
        let large = LargePeripheral(store: StateDirectory(path: path))
        let preserved = median(try await large.saves(rounds))
        let restored = median(try await large.restores(rounds))
        print("with 2,000 characteristics and 50 subscribers, as a peripheral does it:")
        print("preserved:       \(preserved), \(preserved / written) times the plain write")
        print("restored:        \(restored), \(restored / written) times the plain write")
        removeFiles(in: path)
        exit([saved, loaded, preserved, restored].allSatisfy { $0 <= goal } ? 0 : 1)
    }

    /// As much as the state of a peripheral is: a service and two attributes for each characteristic.
    private static func document(characteristics: Int, subscribers: Int) -> RestorationState {
        let attribute =
            "2B;5c3a0002-9e1f-4b0c-8d2a-0f1e2d3c4b5a;read write notify;encrypted;00112233445566778899"
        let subscriber = "AA:BB:CC:DD:EE:FF;public;bonded;notify;2026-11-21T21:50:00Z"
        var document = RestorationState()
        document.append(
            .init(
                "Attributes",
                entries: (0..<3 * characteristics).map { .init(key: "\($0)", value: attribute) }
            )
        )
        document.append(
            .init("Subscribers", entries: (0..<subscribers).map { .init(key: "\($0)", value: subscriber) })
        )
        return document
    }

    private static func saved(in directory: String) -> [UInt8] {
        names(in: directory).first { $0.hasSuffix(".state") }.map { read("\(directory)/\($0)") } ?? []
    }

    private static func read(_ path: String) -> [UInt8] {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        return [UInt8](unsafeUninitializedCapacity: 8 << 20) { buffer, count in
            count = max(0, Glibc.read(file, buffer.baseAddress, buffer.count))
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
            fatalError("\(String(cString: strerror(errno)))")
        }
    }

    private static func removeFiles(in directory: String) {
        for name in names(in: directory) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    private static func names(in directory: String) -> [String] {
        guard let listing = opendir(directory) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { names.append(String(cString: $0)) }
            }
        }
        return names
    }

    private static func median(_ durations: [Duration]) -> Duration {
        durations.sorted()[durations.count / 2]
    }
}
