import PeripheralKit

/// The peripheral of CoreBluetooth's transfer sample.
///
/// Each subscriber gets a text in chunks of 20 bytes, with "EOM" as the last chunk.
struct TextPeripheral {
    /// The UUIDs of the sample, so that its central finds this peripheral.
    private static let serviceUUID: BluetoothUUID = "E20A39F4-73F5-4BC4-A12F-17D1AD07A961"
    private static let textUUID: BluetoothUUID = "08590F7E-DB05-467E-8757-72F6FAEB13D4"

    let text = Characteristic<[UInt8]>(Self.textUUID, .notify)
    let peripheral: Peripheral

    init(name: String) {
        peripheral = Peripheral(name) { [text] in
            GATTService(Self.serviceUUID) { text }
        }
    }

    /// Offers each text to all subscribers until the next text arrives.
    ///
    /// Subscribers get a new text at once. The last text is offered until the session ends.
    func offer(
        _ texts: some AsyncSequence<String, Never>,
        over session: PeripheralSession,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws {
        var offer: Task<Void, any Error>?
        defer { offer?.cancel() }
        for await text in texts {
            offer?.cancel()
            // The end marker of an interrupted text is sent before the next text.
            _ = await offer?.result
            offer = Task { [characteristic = self.text] in
                try await session.offer(Array(text.utf8), over: characteristic, progress: progress)
            }
        }
        try await withTaskCancellationHandler {
            try await offer?.value
        } onCancel: { [offer] in
            offer?.cancel()
        }
    }
}
