import Glibc
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Subprocess

/// A ``BulkProgram`` that runs, and the centrals that it sends to.
///
/// An unbounded one is a program that trusts bluetoothd: it may not open Bluetooth sockets, so that nothing
/// is observed, and nothing paced, at no cost.
struct BulkProcess {
    typealias Lines = SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator

    /// The number of the process.
    let identifier: pid_t
    let centrals: [BumbleCentral]
    private let start: Characteristic<UInt8>
    /// A value that centrals can read.
    let level: Characteristic<UInt8>

    /// Has a program sent to centrals of which each has a link of its own speed.
    ///
    /// - Parameters:
    ///   - order: What the program does after a central has written the start.
    ///   - packetTimes: The milliseconds that a packet takes on each link; the last holds for all further
    ///     ones.
    ///   - adapter: The address of the adapter.
    ///   - pool: Where the centrals come from.
    ///   - body: Called when all have subscribed. The centrals leave when it ends, and then so does the
    ///     program.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; `TestCentralError` when the program ends too soon.
    static func run<Outcome: Sendable>(
        _ order: BulkOrder,
        packetTimes: [Double],
        on adapter: DeviceAddress,
        from pool: CentralPool,
        _ body: (BulkProcess, inout Lines) async throws -> Outcome
    ) async throws -> Outcome {
        var arguments = [try path] + order.arguments
        if order.isUnbounded {
            let rig = Rig.environment("RIG_SRC") ?? "."
            arguments = [rig + "/without-bluetooth-sockets"] + arguments
        }
        let outcome = try await Subprocess.run(
            .name("env"),
            arguments: Arguments(arguments),
            input: .none,
            output: .sequence,
            error: .currentStandardError
        ) { execution in
            var lines = execution.standardOutput.strings().makeAsyncIterator()
            defer { try? execution.send(signal: .kill) }
            try await expect("ready", from: &lines)
            let declared = BulkPeripheral()
            let first = BumbleCentral(of: declared.peripheral, on: adapter, from: pool)
            let centrals = [first] + (1..<order.centrals).map { _ in first.makeAnother() }
            for central in centrals {
                try await central.connect(mtu: 517, encrypting: true)
                let handle = try await central.locate(declared.bulk).valueHandle
                try await central.subscribe(handle, to: .notification)
            }
            for central in centrals {
                let packetTime = packetTimes[min(central.place, packetTimes.count - 1)]
                guard let address = CentralPool.address(place: central.place) else { continue }
                try Rig.radio("speed \(packetTime) \(address)")
            }
            let process = BulkProcess(
                identifier: execution.processIdentifier.value,
                centrals: centrals,
                start: declared.start,
                level: declared.level
            )
            let outcome = try await body(process, &lines)
            try Rig.radio("speed 2.5")
            for central in centrals { try await central.disconnect() }
            try await end(&lines)
            return outcome
        }
        return outcome.closureResult
    }

    /// The first call starts the program; the second makes it print what it has done.
    func order() async throws {
        let handle = try await centrals[0].locate(start).valueHandle
        try await centrals[0].write(handle, [1])
    }

    /// Has it start.
    ///
    /// - Returns: How the program knows what has left.
    func begin(_ lines: inout Lines) async throws -> String {
        try await order()
        return try await Self.expect("pacing", from: &lines).last.map { String($0) } ?? ""
    }

    /// The words of the next line that the program prints.
    func next(from lines: inout Lines) async throws -> [Substring] {
        guard let line = try await lines.next() else { throw Self.ended }
        return line.split(whereSeparator: \.isWhitespace)
    }

    private static let ended = TestCentralError(code: .failed, message: "The program has ended too soon.")

    /// Waits for the end of the program, which comes by itself when its centrals have left.
    private static func end(_ lines: inout Lines) async throws {
        while try await lines.next() != nil {}
    }

    /// Waits for a line that begins with a word.
    @discardableResult
    static func expect(_ word: Substring, from lines: inout Lines) async throws -> [Substring] {
        while let line = try await lines.next() {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.first == word { return words }
        }
        throw ended
    }

    /// The path of this program, of which the other is another process.
    private static var path: String {
        get throws {
            guard let path = realpath("/proc/self/exe", nil) else {
                throw TestCentralError(code: .failed, message: "This program has no path.")
            }
            defer { free(path) }
            return String(cString: path)
        }
    }
}
