/// A setting of main.conf that affects a peripheral.
package struct Setting: Hashable, Sendable {
    /// The values that bluetoothd accepts.
    ///
    /// For any other value, bluetoothd keeps the default.
    package enum Values: Hashable, Sendable {
        case truth
        case words([String])
        case number(ClosedRange<Int>)
        /// A number in units of the controller.
        ///
        /// Before 5.67, bluetoothd moves a number outside the range to the limit.
        case interval(ClosedRange<Int>)
        case any
    }

    package var group: String
    package var key: String
    package var values: Values
    /// The first version of BlueZ with the setting, or `nil` if all supported versions have it.
    package var since: BlueZVersion?

    package init(_ group: String, _ key: String, _ values: Values, since: BlueZVersion? = nil) {
        self.group = group
        self.key = key
        self.values = values
        self.since = since
    }

    /// The group and the key, as in the file.
    package var name: String { "[\(group)] \(key)" }

    /// Returns whether bluetoothd accepts a value.
    package func accepts(_ value: String) -> Bool {
        switch values {
        case .truth: Self.truth(value) != nil
        case .words(let words): words.contains(value)
        case .number(let range): Self.number(value).map(range.contains) ?? false
        case .interval(let range): Int(strtol: value).map(range.contains) ?? false
        case .any: true
        }
    }

    /// Returns the Boolean value that a text represents in a key file.
    package static func truth(_ value: String) -> Bool? {
        switch trimmingEnd(of: value) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Returns the number that a text represents in a key file.
    package static func number(_ value: String) -> Int? {
        Int(strtol: value) ?? Int(trimmingEnd(of: value))
    }

    private static func trimmingEnd(of value: String) -> Substring {
        var value = value[...]
        while let last = value.last, last.isWhitespace { value.removeLast() }
        return value
    }
}

extension Setting {
    package static let autoEnable = Setting("Policy", "AutoEnable", .truth)
    package static let cache = Setting("GATT", "Cache", .words(["always", "yes", "no"]))
    package static let channels = Setting("GATT", "Channels", .number(1...6))
    package static let client = Setting("GATT", "Client", .truth, since: "5.74")
    package static let controllerMode = Setting("General", "ControllerMode", .words(["dual", "bredr", "le"]))
    package static let deviceID = Setting("General", "DeviceID", .any)
    package static let exchangeMTU = Setting("GATT", "ExchangeMTU", .number(23...517))
    package static let experimental = Setting("General", "Experimental", .truth)
    package static let justWorksRepairing = Setting(
        "General",
        "JustWorksRepairing",
        .words(["never", "confirm", "always"])
    )
    package static let keySize = Setting("GATT", "KeySize", .number(7...16))
    package static let maximumConnectionInterval = Setting(
        "LE",
        "MaxConnectionInterval",
        .interval(connectionIntervals)
    )
    package static let maximumInterval = Setting(
        "LE",
        "MaxAdvertisementInterval",
        .interval(advertisingIntervals)
    )
    package static let minimumConnectionInterval = Setting(
        "LE",
        "MinConnectionInterval",
        .interval(connectionIntervals)
    )
    package static let minimumInterval = Setting(
        "LE",
        "MinAdvertisementInterval",
        .interval(advertisingIntervals)
    )
    package static let pairableTimeout = Setting("General", "PairableTimeout", .number(0...Int(UInt32.max)))
    package static let privacy = Setting(
        "General",
        "Privacy",
        .words(["off", "network", "on", "device", "limited-network", "limited-device"])
    )
    package static let reverseServiceDiscovery = Setting("General", "ReverseServiceDiscovery", .truth)
    package static let secureConnections = Setting(
        "General",
        "SecureConnections",
        .words(["off", "on", "only"]),
        since: "5.67"
    )
    package static let security = Setting("GATT", "Security", .any, since: "5.87")
    package static let temporaryTimeout = Setting(
        "General",
        "TemporaryTimeout",
        .number(0...Int(UInt32.max))
    )

    /// The valid intervals of advertisements, in units of 0.625 ms.
    private static let advertisingIntervals = 0x0020...0x4000
    /// The valid intervals of connections, in units of 1.25 ms.
    private static let connectionIntervals = 0x0006...0x0C80

    /// The settings that the examination checks.
    package static let all: [Setting] = [
        .autoEnable, .cache, .channels, .client, .controllerMode, .deviceID, .exchangeMTU, .experimental,
        .justWorksRepairing, .keySize, .maximumConnectionInterval, .maximumInterval,
        .minimumConnectionInterval, .minimumInterval, .pairableTimeout, .privacy, .reverseServiceDiscovery,
        .secureConnections, .security, .temporaryTimeout,
    ]
}
