import PeripheralKit
import PeripheralTesting
import Synchronization

/// A virtual phone that uploads a file in two parts.
final class EmulatedPhone: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let fileName = "photo.jpg"

    private let drop: FileDropPeripheral
    private let folder: DropFolder
    private let isOpen: Bool
    private let bars: ProgressBars
    private let hasUploaded = Mutex(false)

    init(drop: FileDropPeripheral, folder: DropFolder, isOpen: Bool, bars: ProgressBars) {
        (self.drop, self.folder, self.isOpen, self.bars) = (drop, folder, isOpen, bars)
    }

    /// Uploads half of the file, disconnects, and uploads the rest.
    func useFileDrop(_ central: VirtualCentral) async throws {
        // Each run uploads another file, so that --directory does not make it superfluous.
        var generator = SystemRandomNumberGenerator()
        let file = Uploader(name: Self.fileName, bytes: (0..<1_000_000).map { _ in generator.next() })
        let checksum = CRC32.text(file.header.checksum)
        bars.print("phone: uploads \(file.bytes.count) bytes with the CRC-32 \(checksum)")

        try await central.connect()
        if !isOpen { try await central.pair(.justWorks) }
        var channel = try await central.openChannel(psm: central.read(drop.listener.psm))
        let answer = try await file.begin(over: channel)
        guard answer == .continues(at: 0) else {
            throw Failure(description: "The upload has failed: \(answer).")
        }
        let clock = ContinuousClock()
        var start = clock.now
        try await file.send(0..<file.bytes.count / 2, over: channel)
        var time = clock.now - start
        central.disconnect()
        bars.print("phone: is out of range, after half of the file")

        try await central.connect()
        channel = try await central.openChannel(psm: central.read(drop.listener.psm))
        guard case .continues(let offset) = try await file.begin(over: channel), offset > 0 else {
            throw Failure(description: "The file drop does not continue the file.")
        }
        bars.print("phone: is back, and continues at byte \(offset)")
        start = clock.now
        let status = try await file.finish(from: Int(clamping: offset), over: channel)
        time += clock.now - start
        guard status == .received else { throw Failure(description: "The upload has failed: \(status).") }
        guard try folder.open(file.header).isComplete else {
            throw Failure(description: "The file drop has another file than the phone.")
        }
        hasUploaded.withLock { $0 = true }
        let kilobytes = Int(Double(file.bytes.count) / 1000 / (time / .seconds(1)))
        bars.print("phone: the file has arrived with the CRC-32 \(checksum), at \(kilobytes) kB/s")
        bars.print("phone: reads that complete files: \(try await central.read(drop.files))")
    }

    /// Throws an error if the program ends before the file has arrived.
    func checkHasUploaded() throws {
        guard hasUploaded.withLock(\.self) else {
            throw Failure(description: "The program has ended before the file arrived.")
        }
    }
}
