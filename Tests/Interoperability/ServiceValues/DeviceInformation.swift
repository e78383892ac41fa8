import PeripheralDeviceInformation
import PeripheralKit

extension ServiceValues {
    static let deviceInformation: [Sample] = [
        .sent(.manufacturerName, "Example Works, Zürich", is: "Example Works, Zürich"),
        .sent(.modelNumber, "S-1", is: "S-1"),
        .sent(.serialNumber, "0001-0002", is: "0001-0002"),
        .sent(.hardwareRevision, "B", is: "B"),
        .sent(.firmwareRevision, "1.0.2", is: "1.0.2"),
        .sent(.softwareRevision, "2.3 \"Säntis\"", is: "2.3 \"Säntis\""),
        .sent(
            .systemID,
            SystemID(eui64: 0x1234_56FF_FE9A_BCDE),
            is: ["manufacturer_id": "debc9afeff", "oui": "563412"]
        ),
        .sent(
            .regulatoryCertificationData,
            [0x00, 0x02, 0x00, 0x12, 0x02, 0x01] as [UInt8],
            is: ["certification_data": "000200120201"]
        ),
        .sent(
            .pnpID,
            PnPID(vendor: .usb(0x1234), product: 0x0001, version: 0x0102),
            is: [
                "vendor_id_source": "USB_IF", "vendor_id": 0x1234, "product_id": 1, "product_version": 0x0102,
            ]
        ),
        .sent(
            .pnpID,
            PnPID(vendor: .bluetooth(0x0059), product: 0xFFFF, version: 0x0100),
            is: [
                "vendor_id_source": "BLUETOOTH_SIG", "vendor_id": 0x0059, "product_id": 0xFFFF,
                "product_version": 0x0100,
            ]
        ),
    ]
}
