internal import PeripheralCore
internal import PeripheralKit

extension BlueZRules {
    func examine(
        _ characteristic: CharacteristicDescription,
        named element: String,
        maximumLength: Int?
    ) -> [DeclarationIssue] {
        let properties = characteristic.properties
        var issues: [DeclarationIssue] = []
        func warn(_ reason: String, _ remedy: String) {
            issues.append(
                DeclarationIssue(severity: .warning, element: element, reason: reason, remedy: remedy)
            )
        }
        if properties.contains(.broadcast) {
            warn(
                "BlueZ shows centrals the broadcast property, but does not broadcast the value",
                "remove .broadcast, and add serviceData to the Advertisement"
            )
        }
        if properties.contains(.authenticatedSignedWrites), version < BlueZVersion(major: 5, minor: 73) {
            warn(
                "BlueZ before 5.73 drops signed writes",
                "use BlueZ 5.73 or later, or .write with security: .encrypted"
            )
        }
        if properties.contains(.writeWithoutResponse), !properties.contains(.write),
            characteristic.security.write > .open
        {
            // The security flags, such as encrypt-write, include the property.
            warn(
                "BlueZ also offers .write if writes require security, and a central that is not paired "
                    + "does not learn why its write without response is dropped",
                "replace .writeWithoutResponse with .write"
            )
        }
        if properties.contains([.notify, .indicate]) {
            warn(
                "BlueZ does not report which of the two a central has subscribed to, and an indication to a central "
                    + "that has subscribed to notifications waits 30 s for its confirmation",
                "declare only one of .notify and .indicate if confirmations matter"
            )
        }
        if properties.allowsSubscription, characteristic.security.notify > .open,
            version < .socketPerSubscriber
        {
            warn(
                "BlueZ before 5.76 sends each value to all subscribers, so no subscriber receives a value while the "
                    + "link of one of them lacks the required security",
                "use BlueZ 5.76 or later if several centrals subscribe"
            )
        }
        // The shape of a control point.
        if properties.contains([.write, .indicate]), version < .confirmationsOnSockets {
            let error =
                version < .socketPerSubscriber
                ? ", and a central that has not subscribed receives the error 'unlikely error'" : ""
            warn(
                "BlueZ before 5.80 sends each indication to all subscribers, so a response for one central reaches "
                    + "all of them\(error)",
                "use BlueZ 5.80 or later if several centrals subscribe"
            )
        }
        if properties.contains(.indicate), characteristic.security.notify == .open,
            version >= .confirmationsOnSockets
        {
            warn(
                "BlueZ from 5.80 on can crash if a subscriber unsubscribes before it confirms an indication that was "
                    + "sent only to it, and any central can subscribe without pairing",
                "require pairing with security: .encrypted, or send each indication to all subscribers"
            )
        }
        if properties.canWrite, let maximumLength, maximumLength > 510, version < .longestWrites {
            warn(
                "BlueZ before 5.69 refuses written values of 511 and 512 bytes, which the declared length allows",
                "use BlueZ 5.69 or later, or declare a length of at most 510 bytes"
            )
        }
        return issues
    }
}
