import MinimalProgram
import PeripheralDeviceInformation
import PeripheralKit

@main
struct WithDeviceInformation {
    static func main() async throws {
        let information = DeviceInformationService(
            manufacturerName: "Example Works",
            modelNumber: "One",
            serialNumber: "1",
            hardwareRevision: "1",
            firmwareRevision: "1",
            softwareRevision: "1",
            systemID: SystemID(eui64: 0x1234_56FF_FE9A_BCDE),
            regulatoryCertificationData: [0x00, 0x00],
            pnpID: PnPID(vendor: .usb(0x1234), product: 0x0001, version: 0x0102)
        )
        try await runMinimalProgram(with: [information]) { _ in }
    }
}
