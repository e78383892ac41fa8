import Glibc
import PeripheralCore
import PeripheralTesting
import Synchronization

/// Sends a document in chunks to several centrals at once, each on a link of its own speed; compares every
/// byte that arrives, and looks at the memory of the program and of bluetoothd.
///
/// The radio compares, at the centrals' controllers.
struct TransferRun {
    /// How much more memory than before there may be, in kB.
    private static let mostGrowth = 2048
    private static let interval = Duration.seconds(1)
    private static let patience = 60.0

    private let size: Int
    private let packetTimes: [Double]
    private let isKept: Bool
    private let adapter: DeviceAddress

    /// Prepares a run on an adapter of the rig.
    ///
    /// - Parameters:
    ///   - size: The bytes of the document.
    ///   - packetTimes: The milliseconds for each packet on the links; there are as many centrals.
    ///   - isKept: Whether the centrals' hosts get nothing of it, which share the processor with all the
    ///     rest.
    ///   - adapter: The address of the adapter.
    init(size: Int, packetTimes: [Double], isKept: Bool, on adapter: DeviceAddress) {
        self.size = size
        self.packetTimes = packetTimes
        self.isKept = isKept
        self.adapter = adapter
    }

    /// Sends the document.
    ///
    /// Returns whether every byte arrived at each central in order, and the memory kept its bound.
    func run(_ program: String) async throws -> Bool {
        var template = Array("/tmp/document-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else { return false }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let document = Self.document(size)
        fwrite(document, 1, document.count, file)
        fclose(file)
        let passed = Mutex(false)
        try await CentralPool.run(program) { pool in
            let order = BulkOrder(.document(path: path), centrals: packetTimes.count)
            let isKept = try await BulkProcess.run(order, packetTimes: packetTimes, on: adapter, from: pool) {
                process,
                lines in
                try await watch(process, path, &lines)
            }
            passed.withLock { $0 = isKept }
        }
        unlink(path)
        let isPassed = passed.withLock(\.self)
        print(isPassed ? "1 passed, 0 failed" : "0 passed, 1 failed")
        return isPassed
    }

    /// Bytes of which no two parts are alike.
    private static func document(_ size: Int) -> [UInt8] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        return (0..<size).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    /// What has arrived at a central's controller.
    private struct Copy {
        var address: Substring
        var size: Int
        var values: Int
        /// `open`, `whole` or `wrong`.
        var state: Substring
    }

    private func copies() throws -> [Copy] {
        try Rig.radio("copies").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let size = Int(words[1]), let values = Int(words[2]) else { return nil }
            return Copy(address: words[0], size: size, values: values, state: words[3])
        }
    }

    private func watch(
        _ process: BulkProcess,
        _ path: String,
        _ lines: inout BulkProcess.Lines
    ) async throws -> Bool {
        try Rig.radio("document \(path)" + (isKept ? " kept" : ""))
        let watched = [("program", process.identifier), ("bluetoothd", ProcessTable.daemon)]
        for (_, identifier) in watched { ProcessTable.resetPeak(of: identifier) }
        let before = watched.map { ProcessTable.memory(of: $0.1) }
        let (start, times) = (BulkProgram.time, ProcessTable.processorTimes(program: process.identifier))
        let completionReporting = try await process.begin(&lines)
        var (copies, moved, greatest) = ([Copy](), start, before.map(\.now))
        while copies.count < packetTimes.count || copies.contains(where: { $0.state == "open" }) {
            try await Task.sleep(for: Self.interval)
            let newest = try self.copies()
            if newest.map(\.values) != copies.map(\.values) { moved = BulkProgram.time }
            copies = newest
            for (index, (_, identifier)) in watched.enumerated() {
                greatest[index] = max(greatest[index], ProcessTable.memory(of: identifier).now)
            }
            guard BulkProgram.time - moved < Self.patience, !copies.contains(where: { $0.state == "wrong" })
            else { break }
        }
        let (seconds, timesAfter) = (
            BulkProgram.time - start, ProcessTable.processorTimes(program: process.identifier)
        )
        let isWhole =
            copies.count == packetTimes.count && copies.allSatisfy { $0.size == size && $0.state == "whole" }
        if isWhole {
            try await BulkProcess.expect("sent", from: &lines)
            try await process.order()
        }
        try Rig.radio("document")
        var isSmall = true
        for (index, (name, identifier)) in watched.enumerated() {
            let after = ProcessTable.memory(of: identifier)
            let peak = max(greatest[index], after.peak)
            isSmall = isSmall && peak - before[index].now <= Self.mostGrowth
            print(
                "      \(name): \(before[index].now) kB before, at most \(greatest[index]) when looked at, "
                    + "\(after.peak) by the kernel, \(after.now) after: \(peak - before[index].now) more"
            )
        }
        for copy in copies.sorted(by: { $0.address < $1.address }) {
            print("      \(copy.address): \(copy.size) bytes in \(copy.values) values, \(copy.state)")
        }
        print("      processor: \(ProcessTable.shares(timesAfter, since: times, in: seconds))")
        print(
            "\(isWhole && isSmall ? "ok   " : "FAIL ") \(size) bytes in chunks of 20 to \(packetTimes.count) centrals at "
                + packetTimes.map { "\($0)" }.joined(separator: "/")
                + " ms per packet: \(completionReporting), \(Int(seconds)) s"
                + (isWhole ? "" : ", not every byte arrived in order") + (isSmall ? "" : ", memory grew")
        )
        return isWhole && isSmall
    }
}
