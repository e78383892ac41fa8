import PeripheralKit

extension ValidationTests {
    private static let heartRate = GATTService(0x180D) { Characteristic<UInt8>(0x2A38, value: 1) }
    private static let secondary = GATTService(0x180A, isPrimary: false) {
        Characteristic<UInt8>(0x2A50, value: 1)
    }

    private static func battery(
        includes: [any GATTServiceDeclaration] = [],
        handle: AttributeHandle? = nil
    ) -> GATTService {
        GATTService(0x180F, includes: includes, handle: handle) { Characteristic<UInt8>(0x2A19, value: 1) }
    }

    private static func about(
        _ name: String,
        _ peripheral: Peripheral,
        severity: DeclarationIssue.Severity = .error,
        element: String = "service 180f",
        _ reason: String,
        _ remedy: String
    ) -> Case {
        Case(
            testDescription: name,
            peripheral: peripheral,
            severity: severity,
            element: element,
            reason: reason,
            remedy: remedy
        )
    }

    static let services: [Case] = [
        about(
            "an include that is not declared",
            Peripheral("P") { battery(includes: [heartRate]) },
            "it includes service 180d, which is not part of the peripheral",
            "declare that service before this one, using the same constant"
        ),
        about(
            "an include that stands behind",
            Peripheral("P") {
                battery(includes: [heartRate])
                heartRate
            },
            "it includes service 180d, which is not declared before it",
            "declare that service before this one"
        ),
        about(
            "an include that is there twice",
            Peripheral("P") {
                heartRate
                battery(includes: [heartRate, heartRate])
            },
            "it includes service 180d twice",
            "include it once"
        ),
        about(
            "a secondary service that nobody includes",
            Peripheral("P") {
                secondary
                battery()
            },
            severity: .warning,
            element: "service 180a",
            "centrals cannot find it: it is secondary, and no service includes it",
            "name it in the includes of another service, or make it primary"
        ),
        about(
            "a handle that is taken",
            Peripheral("P") {
                heartRate
                battery(handle: 0x0003)
            },
            element: "peripheral",
            "service 180f (the one at index 1) needs the handles 0x0003 through 0x0005, "
                + "which overlap the handles of service 180d",
            "pin the service elsewhere, or let the Bluetooth stack choose"
        ),
        about(
            "the handle that is none",
            Peripheral("P") { battery(handle: 0x0000) },
            element: "peripheral",
            "the handle 0x0000 is reserved. Use the handle 0x0001 or a higher handle",
            "pin the service to 0x0001 or above, or let the Bluetooth stack choose"
        ),
        about(
            "a handle too high",
            Peripheral("P") { battery(handle: 0xFFFE) },
            element: "peripheral",
            "service 180f (the one at index 0) does not fit: there are no handles beyond 0xffff",
            "declare fewer services, characteristics or descriptors, or pin none so high"
        ),
    ]
}
