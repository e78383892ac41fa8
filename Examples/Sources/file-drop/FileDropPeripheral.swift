import PeripheralKit

/// A peripheral that receives files over L2CAP channels.
///
/// ``Upload`` describes the protocol of a channel.
struct FileDropPeripheral: GATTServiceDeclaration {
    let name: String
    let listener: L2CAPListener
    /// The number of complete files.
    let files: Characteristic<UInt32>
    private let folder: DropFolder
    private let pairing: Pairing

    /// Declares the peripheral.
    ///
    /// - Parameters:
    ///   - name: The name under which centrals find the peripheral.
    ///   - folder: The directory of the files.
    ///   - maximumLength: The length of the longest file that is accepted, in bytes.
    ///   - isOpen: Whether centrals can upload without pairing.
    ///   - report: Receives the progress of all uploads.
    init(
        name: String,
        folder: DropFolder,
        maximumLength: UInt64,
        isOpen: Bool = false,
        report: @escaping @Sendable (UploadEvent) -> Void
    ) {
        (self.name, self.folder) = (name, folder)
        let security: SecurityLevel = isOpen ? .open : .encrypted
        pairing = isOpen ? .none : .justWorks
        let files = Characteristic<UInt32>(
            "5c3a0042-7e3c-4b6e-9d29-b3f1c0a1d001",
            [.read, .notify],
            security: AttributeSecurity(security),
            updates: .latest
        )
        self.files = files
        let receiver = UploadReceiver(folder: folder, maximumLength: maximumLength, report: report)
        listener = L2CAPListener(security: security) { channel, session in
            guard try await receiver.receive(from: channel) == .received else { return }
            try await session.notify(files, UInt32(folder.completeFiles))
        }
    }

    var service: GATTService {
        GATTService("5c3a0041-7e3c-4b6e-9d29-b3f1c0a1d001") {
            listener.psm
            files {
                Read { UInt32(folder.completeFiles) }
                UserDescription("Complete files")
            }
        }
    }

    var peripheral: Peripheral {
        Peripheral(name, pairing: pairing) {
            self
            listener
        }
    }
}
