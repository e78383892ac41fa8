import Glibc
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit

/// The program whose updates are counted, a process of its own, which does nothing else: so its memory and
/// its processor time are those of a peripheral that sends.
///
/// It prints `ready` when it is on the air, `pacing` after a central has written the start, and `sent` when
/// all values are accepted. After a second write, it prints when each value was accepted. It ends when its
/// centrals have left.
struct BulkProgram {
    private let order: BulkOrder

    /// The time in seconds, by the clock that the radio uses for arrivals.
    static var time: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    init(_ order: BulkOrder) {
        self.order = order
    }

    func run() async throws {
        let (starts, starter) = AsyncStream.makeStream(of: Void.self)
        let declared = BulkPeripheral(updates: policy) { starter.yield() }
        var document: [UInt8] = []
        if case .document(let path) = order.work { document = try Self.contents(of: path) }
        let backend = BlueZBackend.bluez(
            recovery: .never,
            fallbackRate: order.isUnbounded ? .unlimited : .standard
        )
        try await declared.peripheral.run(on: backend) { [order, document] session in
            Self.say("ready")
            var orders = starts.makeAsyncIterator()
            await orders.next()
            while session.subscriptions.count < order.centrals {
                try await Task.sleep(for: .milliseconds(20))
            }
            Self.say("pacing \(session.completionReporting)")
            var lines: [String] = []
            switch order.work {
            case .document: try await session.send(document, over: declared.bulk)
            case .values(let size, let counts, let interval):
                let sending = Sending(
                    size: size,
                    interval: interval.map { .milliseconds($0) },
                    bulk: declared.bulk,
                    session: session
                )
                lines = try await sending.run(counts)
            }
            Self.say("sent")
            await orders.next()
            for line in lines { print(line) }
            Self.say("told")
            while !session.subscriptions.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
        }
    }

    /// An unbounded sender never waits: everything is accepted at once, and handed over as fast as it is
    /// taken.
    private var policy: UpdatePolicy {
        switch order.work {
        case .document: .reject
        case .values(_, _, .some): .latest
        case .values(_, let counts, nil):
            order.isUnbounded ? .reject(beyond: counts.values.max() ?? 1) : .reject
        }
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func contents(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else {
            throw PeripheralError(code: .invalidValue, message: "There is no document \(path).")
        }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: ftell(file))
        rewind(file)
        _ = fread(&bytes, 1, bytes.count, file)
        return bytes
    }
}

/// Sends numbered values as fast as they are accepted.
private struct Sending {
    let size: Int
    let interval: Duration?
    let bulk: Characteristic<[UInt8]>
    let session: PeripheralSession

    /// Sends so many to each; prints the recipient, and when each was accepted, in microseconds.
    func run(_ counts: [String?: Int]) async throws -> [String] {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for (address, count) in counts {
                group.addTask {
                    let central = session.subscriptions.compactMap(\.central)
                        .first { $0.address.description == address }
                    guard address == nil || central != nil else { return [] }
                    let times = try await send(count, to: central)
                    return times.map { "accepted \(address ?? "all") \(UInt64($0 * 1e6))" }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func send(_ count: Int, to central: Central?) async throws -> [Double] {
        var times: [Double] = []
        times.reserveCapacity(count)
        let padding = [UInt8](repeating: 0x55, count: size - 4)
        for number in 0..<UInt32(count) {
            let value = number.gattBytes + padding
            if let central {
                while try !session.update(bulk, value, to: central) {
                    try await session.readyToUpdate(bulk, to: central)
                }
            } else {
                while try !session.update(bulk, value) { try await session.readyToUpdate(bulk) }
            }
            times.append(BulkProgram.time)
            if let interval { try await Task.sleep(for: interval) }
        }
        return times
    }
}
