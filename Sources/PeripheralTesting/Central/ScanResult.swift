public import PeripheralCore

/// An advertisement that a central has received.
public struct ScanResult: Hashable, Sendable {
    /// The address of the advertiser.
    public var address: DeviceAddress

    /// The advertising data as sent: AD structures (Core Specification, Vol 3, Part C, 11).
    public var advertisingData: [UInt8]

    /// The scan response as sent: AD structures, empty when there is no scan response.
    public var scanResponse: [UInt8]

    /// Whether a central can connect.
    public var isConnectable: Bool

    /// Creates a result, for implementations of ``TestCentral``.
    public init(
        address: DeviceAddress,
        advertisingData: [UInt8],
        scanResponse: [UInt8],
        isConnectable: Bool
    ) {
        self.address = address
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
    }
}

extension ScanResult {
    /// The fields of the advertising data and the scan response: name, services, flags and so on.
    public var payload: AdvertisementPayload {
        AdvertisementPayload(
            advertisingData: AdvertisingData(decoding: advertisingData),
            scanResponse: AdvertisingData(decoding: scanResponse)
        )
    }
}
