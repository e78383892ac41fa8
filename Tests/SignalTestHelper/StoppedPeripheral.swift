import Glibc
import PeripheralBlueZ
import PeripheralKit

/// A peripheral that sends a signal to its own process while it answers a read.
enum StoppedPeripheral {
    /// The error if the signal has not its previous handling after the run.
    struct NotRestored: Error {}

    /// Runs the peripheral until SIGTERM arrives.
    static func run(on backend: BlueZBackend) async throws {
        let (begins, begin) = AsyncStream.makeStream(of: Never.self)
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let peripheral = Peripheral("Stop") {
            GATTService("00002b01-7e3c-4b6e-9d29-b3f1c0a1d001") {
                Characteristic<UInt8>(.batteryLevel, .read) {
                    Read {
                        for await _ in begins {}
                        kill(getpid(), SIGTERM)
                        // The request is still pending when the run begins to stop.
                        for await _ in ends {}
                        try Task.checkCancellation()
                        return 42
                    }
                }
            }
        }
        try await peripheral.run(on: backend, stoppingOn: [SIGTERM, SIGINT]) { session in
            begin.finish()
            for await _ in session.events {}
            end.finish()
        }
        var handling = sigaction()
        sigaction(SIGTERM, nil, &handling)
        guard handling.__sigaction_handler.sa_handler == nil else { throw NotRestored() }
    }
}
