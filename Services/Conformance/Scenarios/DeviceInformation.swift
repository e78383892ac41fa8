internal import PeripheralConformance
internal import PeripheralDeviceInformation
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let deviceInformation = [deviceInformationStrings, deviceInformationIdentifiers]

    private static let deviceInformationStrings = Scenario("DeviceInformation: a central reads all strings") {
        let information = DeviceInformationService(
            manufacturerName: "Example Works, Zürich",
            modelNumber: "S-1",
            serialNumber: "0001-0002",
            hardwareRevision: "B",
            firmwareRevision: "1.0.2",
            softwareRevision: "2.3"
        )
        return ScenarioRun(Peripheral("Information") { information }) { central, _ in
            for (characteristic, text) in [
                (information.manufacturerName, "Example Works, Zürich"),
                (information.modelNumber, "S-1"),
                (information.serialNumber, "0001-0002"),
                (information.hardwareRevision, "B"),
                (information.firmwareRevision, "1.0.2"),
                (information.softwareRevision, "2.3"),
            ] {
                try expect(text, try await central.read(present(characteristic)), is: text)
            }
        }
    }

    private static let deviceInformationIdentifiers = Scenario(
        "DeviceInformation: a central reads all identifiers"
    ) {
        let systemID = SystemID(eui64: 0x1234_56FF_FE9A_BCDE)
        let pnpID = PnPID(vendor: .usb(0x1234), product: 0x0001, version: 0x0102)
        let certifications: [UInt8] = [0x00, 0x02, 0x00, 0x12, 0x02, 0x01]
        let information = DeviceInformationService(
            systemID: systemID,
            regulatoryCertificationData: certifications,
            pnpID: pnpID
        )
        return ScenarioRun(Peripheral("Information") { information }) { central, _ in
            try expect("system", try await central.read(present(information.systemID)), is: systemID)
            try expect("product", try await central.read(present(information.pnpID)), is: pnpID)
            let list = try await central.read(present(information.regulatoryCertificationData))
            try expect("certifications", list, is: certifications)
        }
    }
}
