/// How many bytes an advertisement may take.
public struct AdvertisingBudget: Hashable, Sendable {
    /// How many bytes the advertising data may take.
    public var advertisingData: Int
    /// How many bytes the scan response may take.
    public var scanResponse: Int

    /// Creates a budget.
    public init(advertisingData: Int, scanResponse: Int) {
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
    }

    /// Legacy advertising: 31 bytes each (Core Specification Vol 6, Part B, 2.3.1).
    public static let legacy = AdvertisingBudget(advertisingData: 31, scanResponse: 31)
}
