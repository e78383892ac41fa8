import Glibc
import PeripheralKit
import PeripheralTesting
import Subprocess

/// The virtual machine that the runner runs in.
enum Rig {
    /// What the radio gives to the adapter.
    static let adapterAddress = "00:AA:01:00:00:42"

    /// The address of the adapter that is there once `ctl plug second` was ordered.
    static let secondAdapterAddress = "00:AA:01:00:00:43"

    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Gives the radio an order, without the processes that `rig/ctl` takes, which share the processor with
    /// what is measured.
    ///
    /// - Returns: The lines of its answer.
    /// - Throws: When it does not carry it out.
    @discardableResult
    static func radio(_ order: String) throws -> [Substring] {
        let failure = TestCentralError(code: .failed, message: "The radio does not \(order).")
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "/run/rig/ctl".utf8) }
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            bytes.baseAddress.map {
                connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            } ?? false
        }
        let line = order + "\n"
        guard isConnected, write(descriptor, line, line.utf8.count) == line.utf8.count else { throw failure }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            answer += buffer[..<count]
        }
        let lines = String(decoding: answer, as: UTF8.self).split(separator: "\n")
        guard lines.first?.hasPrefix("error") != true else { throw failure }
        return lines
    }

    /// The advertisements that the adapters send, by address and data, with their intervals.
    ///
    /// A central does not receive the interval.
    static func intervals() throws -> [[Substring]: AdvertisingInterval] {
        var intervals: [[Substring]: AdvertisingInterval] = [:]
        for line in try radio("intervals") {
            let words = line.split(separator: " ")
            guard words.count == 4, let minimum = Int(words[2]), let maximum = Int(words[3]) else { continue }
            intervals[Array(words.prefix(2))] =
                .between(.microseconds(minimum * 625), and: .microseconds(maximum * 625))
        }
        return intervals
    }

    /// Gives orders, one after the other; `rig/ctl` lists them.
    ///
    /// - Returns: Whether all were carried out: what has ended by itself cannot be stopped, for one thing.
    @discardableResult
    static func order(_ orders: [String]) async -> Bool {
        guard let rig = environment("RIG_SRC") else { return false }
        var isDone = true
        for order in orders {
            let outcome = try? await Subprocess.run(
                .name("sh"),
                arguments: Arguments([rig + "/ctl"] + order.split(separator: " ").map(String.init)),
                output: .discarded,
                error: .discarded
            )
            isDone = isDone && outcome?.terminationStatus.isSuccess == true
        }
        return isDone
    }
}
