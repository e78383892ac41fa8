public import PeripheralKit

extension Advertisement {
    /// An advertisement with an Eddystone-UID frame, which identifies a beacon.
    ///
    /// ```swift
    /// let beacon = try Advertisement.eddystoneUID(
    ///     namespace: [0x8B, 0x0C, 0xA7, 0x50, 0xE7, 0xA7, 0x4E, 0x14, 0xBD, 0x99],
    ///     instance: [0, 0, 0, 0, 0, 1],
    ///     power: -20
    /// )
    /// ```
    ///
    /// The [Eddystone-UID specification](https://github.com/google/eddystone/tree/master/eddystone-uid)
    /// defines the frame.
    ///
    /// - Parameters:
    ///   - namespace: The 10 bytes that the beacons of one operator share. The specification recommends the
    ///     first 10 bytes of the SHA-1 hash of a domain name, or the bytes 1 to 4 and 11 to 16 of a random
    ///     UUID.
    ///   - instance: The 6 bytes that identify the beacon in its namespace.
    ///   - power: The received signal strength in dBm at a distance of 0 m, from −100 to 20. The value is
    ///     41 dBm above the measured strength at 1 m.
    ///   - interval: The advertising interval. Some Bluetooth stacks do not let the program choose the
    ///     interval.
    /// - Returns: The advertisement, which centrals cannot connect to.
    /// - Throws: ``EddystoneError`` if a length or the power is wrong.
    public static func eddystoneUID(
        namespace: [UInt8],
        instance: [UInt8],
        power: Int8,
        interval: AdvertisingInterval? = nil
    ) throws(EddystoneError) -> Advertisement {
        guard namespace.count == 10 else {
            throw EddystoneError(message: "The namespace has \(namespace.count) bytes. Use 10 bytes.")
        }
        guard instance.count == 6 else {
            throw EddystoneError(message: "The instance has \(instance.count) bytes. Use 6 bytes.")
        }
        let reserved: [UInt8] = [0, 0]
        return eddystone([0x00, try power.eddystoneByte] + namespace + instance + reserved, interval)
    }

    /// An advertisement with an Eddystone-URL frame, which refers to a web page.
    ///
    /// ```swift
    /// let beacon = try Advertisement.eddystoneURL("https://www.example.com/a", power: -20)
    /// ```
    ///
    /// The [Eddystone-URL specification](https://github.com/google/eddystone/tree/master/eddystone-url)
    /// defines the frame. One byte encodes the beginning `http://`, `https://`, `http://www.` or
    /// `https://www.`. One byte also encodes each of `.com`, `.org`, `.edu`, `.net`, `.info`, `.biz` and
    /// `.gov`, alone or with the following `/`. The rest of the URL can have up to 17 bytes.
    ///
    /// - Parameters:
    ///   - url: The URL, which contains only printable ASCII characters without spaces.
    ///   - power: The received signal strength in dBm at a distance of 0 m, from −100 to 20.
    ///   - interval: The advertising interval. Some Bluetooth stacks do not let the program choose the
    ///     interval.
    /// - Returns: The advertisement, which centrals cannot connect to.
    /// - Throws: ``EddystoneError`` if the URL is too long or cannot be encoded, or if the power is wrong.
    public static func eddystoneURL(
        _ url: String,
        power: Int8,
        interval: AdvertisingInterval? = nil
    ) throws(EddystoneError) -> Advertisement {
        eddystone([0x10, try power.eddystoneByte] + (try EddystoneURL.encode(url)), interval)
    }

    /// An advertisement with an unencrypted Eddystone-TLM frame, which reports the condition of a beacon.
    ///
    /// A TLM frame does not identify the beacon. Declare it in addition to an Eddystone-UID or Eddystone-URL
    /// frame, and renew it while the peripheral runs:
    ///
    /// ```swift
    /// let peripheral = Peripheral("Gate") {
    ///     gate
    ///     Advertisement.eddystoneTLM(telemetry())
    /// }
    /// try await peripheral.run(on: .bluez) { session in
    ///     while true {
    ///         try await Task.sleep(for: .seconds(60))
    ///         try await session.changeAdvertisement(at: 1) { $0 = .eddystoneTLM(telemetry()) }
    ///     }
    /// }
    /// ```
    ///
    /// The [Eddystone-TLM specification](https://github.com/google/eddystone/tree/master/eddystone-tlm)
    /// defines the frame.
    ///
    /// - Parameters:
    ///   - telemetry: The condition of the beacon.
    ///   - interval: The advertising interval. Some Bluetooth stacks do not let the program choose the
    ///     interval.
    /// - Returns: The advertisement, which centrals cannot connect to.
    public static func eddystoneTLM(
        _ telemetry: EddystoneTelemetry,
        interval: AdvertisingInterval? = nil
    ) -> Advertisement {
        eddystone(telemetry.frame, interval)
    }

    private static func eddystone(_ frame: [UInt8], _ interval: AdvertisingInterval?) -> Advertisement {
        let uuid: BluetoothUUID = 0xFEAA
        return Advertisement(
            .broadcast,
            localName: "",
            services: [uuid],
            serviceData: [uuid: frame],
            interval: interval
        )
    }
}

extension Int8 {
    /// The byte for a power in dBm.
    fileprivate var eddystoneByte: UInt8 {
        get throws(EddystoneError) {
            guard (-100...20).contains(self) else {
                throw EddystoneError(message: "The power is \(self) dBm. Use −100 to 20 dBm.")
            }
            return UInt8(bitPattern: self)
        }
    }
}
