internal import PeripheralCore
package import PeripheralDBus

extension BlueZVersion {
    /// Creates the oldest version that matches the properties of an adapter.
    ///
    /// The result is never newer than the running version. bluetoothd has no property for its version, but it
    /// reveals the version in these ways, according to BlueZ's history:
    ///
    /// - `Adapter1.Modalias`: the device ID, by default `usb:v1D6Bp0246d0552` for 5.82. It contains the Linux
    ///   Foundation, BlueZ, and the two numbers of the version in one byte each (since 5.0, b27875e9e).
    ///   `DeviceID` in main.conf replaces it.
    /// - `Adapter1.Connectable`: since 5.79 (17f485f20).
    /// - `Adapter1.Manufacturer`: since 5.71 (f2677c015).
    ///
    /// None of these depends on `--experimental`. The properties of `LEAdvertisingManager1` depend on it
    /// before 5.77. The behavior was recorded on the daemons of 5.66, 5.82 and 5.87.
    ///
    /// No property distinguishes 5.66 from older versions. The lowest result is 5.66, because this package
    /// needs that version.
    ///
    /// - Parameter adapter: The properties of `org.bluez.Adapter1`.
    package init(ofAdapter adapter: BusValue) {
        if let version = BlueZVersion(reportedBy: adapter) {
            self = version
        } else if adapter["Connectable"] != nil {
            self.init(major: 5, minor: 79)
        } else if adapter["Manufacturer"] != nil {
            self.init(major: 5, minor: 71)
        } else {
            self = .v5_66
        }
    }

    /// Creates the exact version if bluetoothd reports it.
    ///
    /// bluetoothd reports the version in its device ID, unless `DeviceID` in main.conf replaces the device
    /// ID.
    package init?(reportedBy adapter: BusValue) {
        guard let modalias = adapter["Modalias"]?.string else { return nil }
        self.init(modalias: modalias)
    }

    /// Creates the version from BlueZ's own device ID; `nil` for the device ID of a product.
    private init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        let digits = modalias.utf8.dropFirst(prefix.utf8.count)
        guard modalias.hasPrefix(prefix), digits.count == 4,
            digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let number = UInt16(Substring(digits), radix: 16)
        else { return nil }
        self.init(major: Int(number >> 8), minor: Int(number & 0xFF))
    }
}
