import CChannels
import Glibc
import OwnThread
import PeripheralBlueZ
import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization

/// Transfers bulk data over L2CAP channels, compares each byte, and measures the time beside a program in C.
struct ChannelRun {
    /// The number of the program in C.
    private static let numberInC: UInt16 = 0xF0
    private static let mtu = 2048
    /// How long a packet takes on the link, in milliseconds.
    private static let packetTime = 1
    /// The age of a channel that is older than each timer of the kernel for channels, the longest of which
    /// has 40 seconds.
    private static let oldAge = Duration.seconds(45)
    /// The most memory that the transfers may add, in KiB.
    private static let memoryLimit = 1024
    /// The number of malformed packets.
    private static let frames = 300
    /// The most bytes of a transfer on a link with this speed.
    private static let sizeOnSlowLink = 1_000_000

    let size: Int
    let pairs: Int
    private let adapter: DeviceAddress

    init(size: Int, pairs: Int, on adapter: DeviceAddress) {
        (self.size, self.pairs, self.adapter) = (size, pairs, adapter)
    }

    /// Serves a channel like `channels_serve`.
    ///
    /// - Returns: The number of received bytes; `nil` after a wrong byte.
    private static func serve(_ channel: L2CAPChannel) async throws -> Int? {
        var packets = channel.makeAsyncIterator()
        guard let order = await packets.next(), order.count == 4 else { return nil }
        let size = order.reversed().reduce(0) { $0 << 8 | Int($1) }
        var position = 0
        while position < size {
            let end = min(size, position + channel.sendMTU)
            let start = position % period
            try await channel.send(Array(pattern[start..<start + end - position]))
            position = end
        }
        var received = 0
        while let packet = await packets.next() {
            let start = received % period
            let isRight = pattern[start..<start + packet.count].withUnsafeBytes { expected in
                guard let expected = expected.baseAddress else { return packet.isEmpty }
                return memcmp(packet, expected, packet.count) == 0
            }
            guard isRight else { return nil }
            received += packet.count
        }
        return received
    }

    /// The number of bytes after which the pattern begins again.
    private static let period = 65_536
    /// The pattern, twice.
    ///
    /// A table is quick also in a debug build, which is what CI has.
    private static let pattern = (0..<2 * period).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 8) }

    /// Runs all transfers, and exits with the result.
    ///
    /// The result is success if each byte has arrived. Returns `false` if the transfers could not run.
    func run(_ program: String) async throws -> Bool {
        let received = Outcomes()
        let listener = L2CAPListener(mtu: Self.mtu) { channel in
            received.add(try await Self.serve(channel))
        }
        let drain = L2CAPListener { channel in for await _ in channel {} }
        let peripheral = Peripheral("Channels") {
            GATTService("c0f000c1-7e3c-4b6e-9d29-b3f1c0a1d001") { listener.psm }
            listener
            drain
        }
        try await CentralPool.run(program) { pool in
            try await peripheral.run(on: .bluez(recovery: .never)) { session in
                let central = BumbleCentral(of: peripheral, on: adapter, from: pool)
                try await central.connect()
                let psm = try session.psm(of: listener)
                var (passed, failed) = (0, 0)
                func judge(_ name: String, _ work: () async throws -> Void) async {
                    do {
                        try await work()
                        passed += 1
                        print("ok    \(name)")
                    } catch {
                        failed += 1
                        print("FAIL  \(name): \(error)")
                    }
                    fflush(nil)
                }
                await judge("\(size) bytes in packets of random lengths") {
                    _ = try await upload(size, length: 0, by: central, to: psm)
                    try await received.expect(size)
                }
                let begin = ContinuousClock.now
                let old = try await central.openChannel(to: psm, mtu: Self.mtu)
                let before = Self.memory
                await judge("\(size) bytes in each direction") {
                    _ = try await upload(size, length: Self.mtu, by: central, to: psm)
                    try await received.expect(size)
                    _ = try await download(size, to: central, from: psm)
                    try await received.expect(0)
                }
                await judge("the memory after \(size) bytes in each direction") {
                    let growth = Self.memory - before
                    guard growth <= Self.memoryLimit else {
                        throw TestCentralError(code: .failed, message: "\(growth) KiB more")
                    }
                }
                await judge("\(Self.frames) malformed packets") {
                    try await sendMalformed(by: central.makeAnother(), to: session.psm(of: drain)) {
                        _ = try await download(1000, to: central, from: psm)
                        try await received.expect(0)
                    }
                }
                await judge("four channels of two centrals on links of different speeds") {
                    try await transferOnDifferentLinks(central, psm, received)
                }
                await judge("\(pairs) transfers beside a program in C") {
                    try await compare(central, psm, received)
                }
                await judge("a channel that is \(Self.oldAge) old") {
                    try await Task.sleep(until: begin + Self.oldAge)
                    try await old.send(UInt32(1000).gattBytes)
                    _ = try await old.takeMany(1000)
                    try await old.close()
                    try await received.expect(0)
                }
                try await central.disconnect()
                print("\(passed) passed, \(failed) failed")
                fflush(nil)
                exit(failed == 0 ? 0 : 1)
            }
        }
        return false
    }

    // MARK: Transfers

    /// Returns how long an upload takes, in microseconds.
    private func upload(_ size: Int, length: Int, by central: BumbleCentral, to psm: UInt16) async throws
        -> Int
    {
        let channel = try await central.openChannel(to: psm, mtu: Self.mtu)
        try await channel.send([0, 0, 0, 0])
        let time = try await channel.sendMany(size, length: length)
        try await channel.close()
        return time
    }

    /// Returns how long a download takes, in microseconds.
    private func download(_ size: Int, to central: BumbleCentral, from psm: UInt16) async throws -> Int {
        let channel = try await central.openChannel(to: psm, mtu: Self.mtu)
        try await channel.send(UInt32(size).gattBytes)
        let time = try await channel.takeMany(size)
        try await channel.close()
        return time
    }

    /// Has a central send malformed packets, and sometimes calls a function that uses another channel.
    private func sendMalformed(
        by hostile: BumbleCentral,
        to psm: UInt16,
        _ useAnother: () async throws -> Void
    ) async throws {
        try await hostile.connect()
        var random = SeededGenerator(state: 25)
        var channel = try await hostile.openChannel(to: psm, mtu: 23)
        for number in 0..<Self.frames {
            let length = UInt16.random(in: 0...300, using: &random)
            let content = (0..<Int.random(in: 0...240, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
            let frame: [UInt8]
            switch number % 5 {
            case 0: frame = [0, 0]  // an empty packet
            case 1: frame = [0xFF, 0xFF] + content  // longer than the MTU
            case 2: frame = UInt16(content.count / 2).gattBytes + content  // more than its length
            case 3: frame = [1]  // no length
            default: frame = length.gattBytes + content
            }
            do {
                try await channel.sendFrame(frame)
            } catch let error as TestCentralError where error.code == .disconnected {
                // The kernel has closed the channel because of a frame before.
                channel = try await hostile.openChannel(to: psm, mtu: 23)
                try await channel.sendFrame(frame)
            }
            // The kernel closes the channel now.
            if number % 5 == 1 {
                try await channel.close()
                channel = try await hostile.openChannel(to: psm, mtu: 23)
            }
            if number % 50 == 0 { try await useAnother() }
        }
        try await channel.close()
        try await hostile.disconnect()
    }

    private func transferOnDifferentLinks(
        _ central: BumbleCentral,
        _ psm: UInt16,
        _ received: Outcomes
    ) async throws {
        let slow = central.makeAnother()
        try await slow.connect()
        if let address = CentralPool.address(place: slow.place) { try Rig.radio("speed 10 \(address)") }
        let size = min(size, 100_000)
        try await withThrowingTaskGroup { group in
            for central in [central, slow] {
                group.addTask { [self] in
                    let down = try await central.openChannel(to: psm, mtu: Self.mtu)
                    try await down.send(UInt32(size).gattBytes)
                    _ = try await upload(size, length: Self.mtu, by: central, to: psm)
                    _ = try await down.takeMany(size)
                    try await down.close()
                }
            }
            try await group.waitForAll()
        }
        var sizes: [Int] = []
        for _ in 0..<4 { sizes.append(try await received.next() ?? -1) }
        guard sizes.sorted() == [0, 0, size, size] else {
            throw TestCentralError(code: .failed, message: "received \(sizes)")
        }
        if let address = CentralPool.address(place: slow.place) { try Rig.radio("speed 0 \(address)") }
        try await slow.disconnect()
    }

    // MARK: The comparison

    private func compare(_ central: BumbleCentral, _ psm: UInt16, _ received: Outcomes) async throws {
        let listener = channels_listen(Self.numberInC, UInt16(Self.mtu))
        guard listener >= 0 else {
            throw TestCentralError(code: .failed, message: "The C program cannot listen.")
        }
        defer { close(listener) }
        try Rig.radio("speed \(Self.packetTime)")
        var ratios: (up: [Double], down: [Double]) = ([], [])
        let size = min(size, Self.sizeOnSlowLink)
        for _ in 0..<pairs {
            let up = try await upload(size, length: Self.mtu, by: central, to: psm)
            try await received.expect(size)
            let down = try await download(size, to: central, from: psm)
            try await received.expect(0)
            let upInC = try await serveInC(listener, is: Int64(size)) {
                try await upload(size, length: Self.mtu, by: central, to: Self.numberInC)
            }
            let downInC = try await serveInC(listener, is: 0) {
                try await download(size, to: central, from: Self.numberInC)
            }
            ratios.up.append(Double(upInC) / Double(up))
            ratios.down.append(Double(downInC) / Double(down))
        }
        try Rig.radio("speed 0")
        for (name, ratios) in [("to", ratios.up), ("from", ratios.down)] {
            let sorted = ratios.sorted()
            let median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
            print(
                "throughput \(name) the peripheral: \(percent(median)) of a program in C, median of \(pairs)"
            )
        }
    }

    private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    private func serveInC(
        _ listener: CInt,
        is expected: Int64,
        _ transfer: () async throws -> Int
    ) async throws -> Int {
        async let outcome = OwnThread.run { channels_serve(listener) }
        let time = try await transfer()
        guard await outcome == expected else {
            throw TestCentralError(code: .failed, message: "The C program has received something else.")
        }
        return time
    }

    /// The largest memory of this process so far, in KiB.
    private static var memory: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }
}

/// What the handlers of channels have received.
private final class Outcomes: Sendable {
    private let stream: AsyncStream<Int?>
    private let continuation: AsyncStream<Int?>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ outcome: Int?) { continuation.yield(outcome) }

    func next() async throws -> Int? {
        for await outcome in stream { return outcome }
        throw CancellationError()
    }

    func expect(_ size: Int) async throws {
        let outcome = try await next()
        guard outcome != size else { return }
        let message = outcome.map { "\($0) bytes instead of \(size)" } ?? "a wrong byte"
        throw TestCentralError(code: .failed, message: "The peripheral has received \(message).")
    }
}

extension BumbleCentral {
    fileprivate func openChannel(to psm: UInt16, mtu: Int) async throws -> BumbleChannel {
        guard let channel = try await openChannel(psm: psm, mtu: mtu) as? BumbleChannel else {
            throw TestCentralError(code: .failed, message: "The channel is not one of Bumble.")
        }
        return channel
    }
}
