internal import PeripheralCore
internal import PeripheralKit

extension BlueZRules {
    func examine(
        _ characteristic: CharacteristicDescription,
        of service: ServiceDescription
    ) -> [DeclarationIssue] {
        let properties = characteristic.properties
        var issues: [DeclarationIssue] = []
        func warn(_ reason: String, _ remedy: String) {
            issues.append(
                DeclarationIssue(
                    severity: .warning,
                    element: "characteristic \(characteristic.uuid) of service \(service.uuid)",
                    reason: reason,
                    remedy: remedy
                )
            )
        }
        if properties.contains(.broadcast) {
            warn(
                "BlueZ shows centrals that the value is broadcast, but broadcasts none",
                "leave out .broadcast, and give the Advertisement serviceData"
            )
        }
        if properties.contains(.authenticatedSignedWrites), version < BlueZVersion(major: 5, minor: 73) {
            warn(
                "BlueZ drops signed writes before version 5.73",
                "use BlueZ 5.73 or later, or .write with security: .encrypted"
            )
        }
        if properties.contains(.writeWithoutResponse), !properties.contains(.write),
            characteristic.security.write > .open
        {
            // The flags for security, such as encrypt-write, bring the property along.
            warn(
                "BlueZ offers what demands security of writes for writes with response too, and a central that "
                    + "is not paired does not learn why a write without is dropped",
                "replace .writeWithoutResponse by .write"
            )
        }
        if properties.contains([.notify, .indicate]) {
            warn(
                "BlueZ does not tell which of the two a central has asked for, and an indication waits 30 s in vain "
                    + "for one that has asked for notifications",
                "declare only one of .notify and .indicate if confirmations matter"
            )
        }
        return issues
    }
}
